import { expect } from "chai";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import { createSharedMemory, releaseWorker } from "../../src/shared/shared-memory.ts";

describe("the connection gate", () => {
  it("counts the connections of all workers", () => {
    const memory = createSharedMemory(2);
    const gates = [0, 1].map((worker) => new ConnectionGate(3, memory.connections, worker)) as [
      ConnectionGate,
      ConnectionGate,
    ];
    expect([gates[0].enter(), gates[1].enter(), gates[0].enter()]).to.deep.equal([true, true, true]);
    expect([gates[0].enter(), gates[1].enter()]).to.deep.equal([false, false]);
    gates[1].leave();
    expect([gates[0].enter(), gates[1].enter()]).to.deep.equal([true, false]);
  });

  it("takes back the places of a worker that has ended", () => {
    const memory = createSharedMemory(2);
    const gate = new ConnectionGate(1, memory.connections, 0);
    new ConnectionGate(1, memory.connections, 1).enter();
    expect(gate.enter()).to.equal(false);
    releaseWorker(memory, 1);
    expect(gate.enter()).to.equal(true);
  });

  it("is open without a bound", () => {
    const gate = new ConnectionGate(0);
    for (let i = 0; i < 1000; i++) expect(gate.enter()).to.equal(true);
  });
});
