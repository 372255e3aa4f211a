import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";

const program = new URL("./closed-proxy-program.ts", import.meta.url);

describeCodecs("a proxy that was closed", (codec, layer) => {
  it("a closed proxy leaves no socket, timer or other resource that keeps its process alive", async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program.pathname], {
      env: { ...process.env, HTTP1_CODEC: codec, HTTP2_CODEC: codec, SOCKET_LAYER: layer },
    });
    expect(stderr).to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal({ resources: [], timers: [] });
  });
});
