import { spawnSync } from "node:child_process";
import { expect } from "chai";

const program = new URL("./http2-clients-program.ts", import.meta.url).pathname;
/** A million cases take about two hours: RUNS=1000000. */
const runs = Number(process.env["RUNS"] ?? 400);
const seed = Number(process.env["SEED"] ?? 20_250_101);
/** Cases of one process, and how often they are begun again. With fewer cases, fewer of the processes are aborted. */
const runsOfProcess = runs > 1000 ? 1000 : 50;
const attempts = 10;

/** The text with which Node's module aborts its process, once in several thousand connections that end badly. */
const abort = "current_nghttp2_memory_";

type Counts = Record<string, number>;

function playIn(what: string, runsHere: number, seedHere: number): Counts {
  const env = { ...process.env, RUNS: String(runsHere), SEED: String(seedHere) };
  for (let attempt = 1; ; attempt++) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, what], {
      encoding: "utf8",
      env,
    });
    if (status !== 0 && stderr.includes(abort) && attempt < attempts) continue;
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as Counts;
  }
}

function play(what: string): Counts {
  const seen: Counts = {};
  for (let done = 0; done < runs; done += runsOfProcess) {
    const counts = playIn(what, Math.min(runsOfProcess, runs - done), seed + done);
    for (const [name, count] of Object.entries(counts)) seen[name] = (seen[name] ?? 0) + count;
  }
  if (process.env["RUNS"] !== undefined) process.stdout.write(`${JSON.stringify(seen)}\n`);
  return seen;
}

describe("the two codecs of HTTP/2 towards backends", function () {
  this.timeout(Math.max(240_000, runs * 40));

  it("the native client takes the responses that nghttp2 takes, with the same fields, but for those of a list", () => {
    const seen = play("compared");
    expect(seen["response"]).to.be.greaterThan(runs / 20);
    expect(seen["error"]).to.be.greaterThan(runs / 20);
  });

  it("the native client comes to an end with broken bytes, and takes no more of them than were sent", () => {
    expect(play("broken")["error"]).to.be.greaterThan(runs / 20);
  });
});
