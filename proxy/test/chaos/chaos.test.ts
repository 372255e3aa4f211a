import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { codecCombinations } from "../http1-codecs.ts";

const program = new URL("./chaos-program.ts", import.meta.url);

type Report = {
  readonly held: Readonly<Record<string, number>>;
  /** The sockets of clients, if anything is held. */
  readonly stuck: readonly object[];
  readonly stillServes: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of UDP sessions. */
  readonly sessions: number;
  readonly failures: number;
  readonly left: readonly string[];
};

describe("a data plane to which everything happens at once", () => {
  for (const { codec, layer, title } of codecCombinations)
    it(`a proxy ${title} serves through chaos, and holds nothing when clients and backends have ended`, async () => {
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ["--expose-gc", program.pathname],
        {
          maxBuffer: 16 * 1024 * 1024,
          env: { ...process.env, HTTP1_CODEC: codec, HTTP2_CODEC: codec, SOCKET_LAYER: layer },
        },
      );
      expect(stderr).to.equal("");
      const { held, stuck, stillServes, statuses, sessions, failures, left } = JSON.parse(stdout) as Report;
      const state = stuck.map((socket) => JSON.stringify(socket)).join("\n");
      for (const [what, count] of Object.entries(held)) expect(count, `${what}\n${state}`).to.equal(0);
      expect([stillServes, failures]).to.deep.equal([200, 0]);
      // The choices are not all alike: hardly any answer was given by chance only.
      const seen = Object.keys(statuses);
      expect(seen).to.include.members(["200", "502", "503"]);
      expect(seen.length).to.be.greaterThan(9);
      expect(sessions).to.be.greaterThan(0);
      expect(left).to.deep.equal([]);
    }).timeout(240_000);
});
