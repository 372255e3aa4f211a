import { expect } from "chai";
import { createBoundedGate, createRateCap } from "@svc-gateway/operator/discovery/admission.ts";

describe("the bounded gate", () => {
  it("the gate runs a limited number of tasks, queues some in order, and refuses the rest", async () => {
    const gate = createBoundedGate({ maxRunning: 2, maxWaiting: 2 });
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const task = (id: number) => () => {
      started.push(id);
      return new Promise<number>((resolve) => finish.push(() => resolve(id)));
    };
    const results = [1, 2, 3, 4].map((id) => gate.run(task(id)));
    expect(gate.run(task(5))).to.equal(undefined);
    await Promise.resolve();
    expect(started).to.deep.equal([1, 2]);
    finish[0]?.();
    expect(await results[0]).to.equal(1);
    await Promise.resolve();
    expect(started).to.deep.equal([1, 2, 3]);
    expect(gate.run(task(6))).not.to.equal(undefined);
    finish[1]?.();
    finish[2]?.();
    expect(await Promise.all([results[1], results[2]])).to.deep.equal([2, 3]);
  });

  it("the place of a failed task goes to the next one", async () => {
    const gate = createBoundedGate({ maxRunning: 1, maxWaiting: 1 });
    const failing = gate.run(() => Promise.reject(new Error("failed")));
    const next = gate.run(() => Promise.resolve("done"));
    expect(await failing?.catch((error: Error) => error.message)).to.equal("failed");
    expect(await next).to.equal("done");
  });
});

describe("the rate cap", () => {
  it("the rate cap grants at most so many within any window", () => {
    let nowMs = 0;
    const mayDo = createRateCap({ maxPerWindow: 3, windowMs: 1000, nowMs: () => nowMs });
    const at = (timeMs: number): boolean => {
      nowMs = timeMs;
      return mayDo();
    };
    expect([0, 500, 900, 950, 999].map(at)).to.deep.equal([true, true, true, false, false]);
    expect([1000, 1001, 1500, 1899, 1900].map(at)).to.deep.equal([true, false, true, false, true]);
  });
});
