import { expect } from "chai";
import { ListenerGate } from "../../src/listeners/listener-gate.ts";
import { createSharedMemory, releaseWorker } from "../../src/shared/shared-memory.ts";

describe("the gate of listeners", () => {
  const ofTwoWorkers = () => {
    const memory = createSharedMemory(2);
    const [one, other] = [0, 1].map((worker) => new ListenerGate(memory.listenerConnections, worker));
    return { memory, one: one as ListenerGate, other: other as ListenerGate };
  };

  it("counts the connections of a port over all workers, and ports apart", () => {
    const { one, other } = ofTwoWorkers();
    expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([true, true]);
    expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([false, false]);
    expect([one.enter(65_534, 1), other.enter(1, 1)]).to.deep.equal([true, true]);
    other.leave(65_535);
    expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([true, false]);
  });

  it("counts without a bound, for one that comes later", () => {
    const { one, other } = ofTwoWorkers();
    for (let i = 0; i < 100; i++) expect(one.enter(80, 0)).to.equal(true);
    expect([other.enter(80, 100), other.enter(80, 101)]).to.deep.equal([false, true]);
  });

  it("takes back the places of a worker that has ended", () => {
    const { memory, one, other } = ofTwoWorkers();
    for (const port of [1, 80, 65_535]) expect(other.enter(port, 1)).to.equal(true);
    one.enter(443, 1);
    releaseWorker(memory, 1);
    expect([1, 80, 443, 65_535].map((port) => one.enter(port, 1))).to.deep.equal([true, true, false, true]);
  });
});
