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

  describe("the limit of all listeners", () => {
    const full = "connections";

    it("the connection gate counts the connections of all workers and ports", () => {
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

    it("the connection gate frees the places of a worker that has ended", () => {
      const { memory, one, other } = ofTwoWorkers(1);
      other.enter(80, 0);
      expect(one.enter(80, 0)).to.equal(full);
      releaseWorker(memory, 1);
      expect(one.enter(80, 0)).to.equal(entered);
    });

    it("a connection gate without a limit admits every connection", () => {
      const gate = new ConnectionGate(0);
      for (let i = 0; i < 1000; i++) expect(gate.enter(80, 0)).to.equal(entered);
    });
  });

  describe("the limit of one listener", () => {
    const full = "listener-connections";

    it("the connection gate counts each port separately, over all workers", () => {
      const { one, other } = ofTwoWorkers(0);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([entered, entered]);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([full, full]);
      expect([one.enter(65_534, 1), other.enter(1, 1)]).to.deep.equal([entered, entered]);
      other.leave(65_535);
      expect([one.enter(65_535, 2), other.enter(65_535, 2)]).to.deep.equal([entered, full]);
    });

    it("the connection gate counts without a limit, for a limit that is set later", () => {
      const { one, other } = ofTwoWorkers(0);
      for (let i = 0; i < 100; i++) expect(one.enter(80, 0)).to.equal(entered);
      expect([other.enter(80, 100), other.enter(80, 101)]).to.deep.equal([full, entered]);
    });

    it("a connection that a full listener refuses takes no place from the limit of all listeners", () => {
      const { one, other } = ofTwoWorkers(2);
      one.enter(80, 1);
      for (let i = 0; i < 10; i++) expect(other.enter(80, 1)).to.equal(full);
      expect([one.enter(81, 0), one.enter(81, 0)]).to.deep.equal([entered, "connections"]);
    });

    it("the connection gate frees the places of a worker that has ended on each of its ports", () => {
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
