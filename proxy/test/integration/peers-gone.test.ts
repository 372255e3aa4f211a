import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";

const program = new URL("./peers-gone-program.ts", import.meta.url);

describeCodecs("a proxy after its peers have left", (codec, layer) => {
  it("a proxy holds no resource after its clients and backends have left", async () => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ["--expose-gc", program.pathname],
      {
        env: { ...process.env, HTTP1_CODEC: codec, HTTP2_CODEC: codec, SOCKET_LAYER: layer },
      },
    );
    // Warnings of too many listeners among it.
    expect(stderr).to.equal("");
    const left = JSON.parse(stdout) as Record<string, readonly string[]>;
    expect(Object.keys(left)).to.include.members(["HTTP/1", "HTTP/2", "TCP", "UDP", "replaced workers"]);
    for (const [part, stacks] of Object.entries(left)) expect(stacks, part).to.deep.equal([]);
  }).timeout(300_000);
});
