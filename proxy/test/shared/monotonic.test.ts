import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { aheadBy, monotonicMs } from "../../src/shared/monotonic.ts";

const clock = new URL("../../src/shared/monotonic.ts", import.meta.url).href;

describe("the clock that workers share", () => {
  it("the clock of a thread is not behind, when the thread waited for a processor while it compared two clocks", () => {
    let realMs = 1_000;
    let readings = 0;
    // Each of the first comparisons is interrupted in one of its two gaps.
    const read = (): number => {
      realMs += readings < 9 && readings % 3 !== 0 ? 250 / (readings + 1) : 0.001;
      readings++;
      return realMs;
    };
    const ahead = aheadBy(read, () => read() - 300);
    expect(ahead).to.be.closeTo(300, 0.01);
  });

  it("the offset is taken from the best comparison where none is close", () => {
    const steps = [5, 1, 3];
    let [realMs, readings] = [0, 0];
    const read = (): number => {
      realMs += steps[Math.floor(readings++ / 3) % steps.length] ?? 0;
      return realMs;
    };
    expect(aheadBy(read, read)).to.be.closeTo(0, 1);
  });

  it("a worker sees a time between two times of the thread that asked", async () => {
    const code = `import(${JSON.stringify(clock)}).then(({ monotonicMs }) => {
      const { parentPort } = require("node:worker_threads");
      parentPort.on("message", () => parentPort.postMessage(monotonicMs()));
    });`;
    const worker = new Worker(code, { eval: true });
    const beforeMs = monotonicMs();
    const seenMs = await new Promise<number>((resolve, reject) => {
      worker.once("message", resolve).once("error", reject);
      worker.postMessage("");
    });
    const afterMs = monotonicMs();
    await worker.terminate();
    expect(seenMs).to.be.within(beforeMs - 0.1, afterMs + 0.1);
  });
});
