import { expect } from "chai";
import { oneAtATime } from "../../src/worker/one-at-a-time.ts";

describe("oneAtATime", () => {
  it("callers during a run share the next run", async () => {
    const ends: (() => void)[] = [];
    let runs = 0;
    const ask = oneAtATime(async () => {
      const run = ++runs;
      await new Promise<void>((resolve) => ends.push(resolve));
      return run;
    });
    const first = ask();
    await Promise.resolve();
    const others = [ask(), ask(), ask()];
    expect(runs).to.equal(1);
    ends.shift()?.();
    expect(await first).to.equal(1);
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()?.();
    expect(await Promise.all(others)).to.deep.equal([2, 2, 2]);
  });

  it("a failed run does not prevent the next one", async () => {
    let runs = 0;
    const ask = oneAtATime(() => (++runs === 1 ? Promise.reject(new Error("no")) : Promise.resolve(runs)));
    const failed = ask().catch((error: Error) => error.message);
    expect(await failed).to.equal("no");
    expect(await ask()).to.equal(2);
  });
});
