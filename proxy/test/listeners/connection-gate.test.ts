import { expect } from "chai";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import { createSharedMemory, releaseWorker } from "../../src/shared/shared-memory.ts";

describe("the connection gate", () => {
  const ofTwoWorkers = (max: number) => {
    const memory = createSharedMemory(2);
    const [one, other] = [0, 1].map((worker) => new ConnectionGate(max, memory.connections, worker));
    return { memory, one: one as ConnectionGate, other: other as ConnectionGate };
  };
  const entered = undefined;

  describe("of all listeners", () => {
    const full = "connections";

    it("counts the connections of all workers and ports", () => {
      const { one, other } = ofTwoWorkers(3);
      expect([one.enter(80, 0), other.enter(80, 0), one.enter(81, 0)]).to.deep.equal([
        entered,
        entered,
        entered,
      ]);
      expect([one.enter(82, 0), other.enter(80, 0)]).to.deep.equal([full, full]);
      other.leave(80);
      expect([one.enter(80, 0), other.enter(80, 0)]).to.deep.equal([entered, full]);
    });

    it("takes back the places of a worker that has ended", () => {
      const { memory, one, other } = ofTwoWorkers(1);
      other.enter(80, 0);
      expect(one.enter(80, 0)).to.equal(full);
      releaseWorker(memory, 1);
      expect(one.enter(80, 0)).to.equal(entered);
    });

    it("is open without a bound", () => {
      const gate = new ConnectionGate(0);
      for (let i = 0; i < 1000; i++) expect(gate.enter(80, 0)).to.equal(entered);
    });
  });

  describe("of one listener", () => {
    const full = "listener-connections";

    it("counts the connections of a port over all workers, and ports apart", () => {
      const { one, other } = ofTwoWorkers(0);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([entered, entered]);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([full, full]);
      expect([one.enter(65_534, 1), other.enter(1, 1)]).to.deep.equal([entered, entered]);
      other.leave(65_535);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([entered, full]);
    });

    it("counts without a bound, for one that comes later", () => {
      const { one, other } = ofTwoWorkers(0);
      for (let i = 0; i < 100; i++) expect(one.enter(80, 0)).to.equal(entered);
      expect([other.enter(80, 100), other.enter(80, 101)]).to.deep.equal([full, entered]);
    });

    it("takes nothing from the places of the others when it is full", () => {
      const { one, other } = ofTwoWorkers(2);
      one.enter(80, 1);
      for (let i = 0; i < 10; i++) expect(other.enter(80, 1)).to.equal(full);
      expect([one.enter(81, 0), one.enter(81, 0)]).to.deep.equal([entered, "connections"]);
    });

    it("takes back the places of a worker that has ended", () => {
      const { memory, one, other } = ofTwoWorkers(0);
      for (const port of [1, 80, 65_535]) expect(other.enter(port, 1)).to.equal(entered);
      one.enter(443, 1);
      releaseWorker(memory, 1);
      expect([1, 80, 443, 65_535].map((port) => one.enter(port, 1))).to.deep.equal([
        entered,
        entered,
        full,
        entered,
      ]);
    });
  });
});
