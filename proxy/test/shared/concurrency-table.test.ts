import { Worker } from "node:worker_threads";
import { expect } from "chai";
import {
  ConcurrencyTable,
  createConcurrencyMemory,
  refused,
  releaseConcurrency,
} from "../../src/shared/concurrency-table.ts";

describe("ConcurrencyTable", () => {
  const entered = (table: ConcurrencyTable, key: string, most: number): boolean =>
    table.enter("zone", key, most) !== refused;

  it("the workers of a proxy count a client together", () => {
    const memory = createConcurrencyMemory(2, 64);
    const [first, second] = [new ConcurrencyTable(memory, 0), new ConcurrencyTable(memory, 1)];
    const entry = first.enter("zone", "a", 2);
    expect([entered(second, "a", 2), entered(first, "a", 2), entered(second, "a", 2)]).to.deep.equal([
      true,
      false,
      false,
    ]);
    first.leave(entry);
    expect(entered(second, "a", 2)).to.equal(true);
  });

  it("clients of different zones are counted apart", () => {
    const table = new ConcurrencyTable(createConcurrencyMemory(1, 64), 0);
    expect([table.enter("x", "a", 1), table.enter("y", "a", 1)]).to.not.include(refused);
    expect(table.enter("x", "a", 1)).to.equal(refused);
  });

  it("a worker that dies gives back what it had in progress, and that of others stays", () => {
    const memory = createConcurrencyMemory(2, 64);
    const [dead, alive] = [new ConcurrencyTable(memory, 0), new ConcurrencyTable(memory, 1)];
    const late = dead.enter("zone", "a", 2);
    expect(entered(alive, "a", 2)).to.equal(true);
    releaseConcurrency(memory, 0);
    expect([entered(alive, "a", 2), entered(alive, "a", 2)]).to.deep.equal([true, false]);
    dead.leave(late);
    expect(entered(alive, "a", 2)).to.equal(false);
  });

  it("an entry without anything in progress is used for another client, and a full table refuses", () => {
    const table = new ConcurrencyTable(createConcurrencyMemory(1, 32), 0);
    const entries = Array.from({ length: 32 }, (_, index) => table.enter("zone", `client ${index}`, 1));
    expect(entries).to.not.include(refused);
    expect(entered(table, "another", 1)).to.equal(false);
    table.leave(entries[7] as number);
    expect(entered(table, "another", 1)).to.equal(true);
  });

  it("four threads that enter and leave admit no more at a time than one would", async () => {
    const memory = createConcurrencyMemory(5, 1024);
    const source = new URL("../../src/shared/concurrency-table.ts", import.meta.url);
    const inside = new SharedArrayBuffer(8);
    const program = `
      import { parentPort, workerData } from "node:worker_threads";
      import { ConcurrencyTable } from ${JSON.stringify(source.href)};
      const { memory, worker, inside } = workerData;
      const table = new ConcurrencyTable(memory, worker);
      const counts = new Int32Array(inside);
      let most = 0;
      for (let i = 0; i < 20_000; i++) {
        const entry = table.enter("zone", "client", 2);
        if (entry < 0) continue;
        most = Math.max(most, Atomics.add(counts, 0, 1) + 1);
        Atomics.sub(counts, 0, 1);
        table.leave(entry);
      }
      parentPort.postMessage(most);`;
    // Claims the entry, so that no two threads do.
    const own = new ConcurrencyTable(memory, 4);
    own.leave(own.enter("zone", "client", 2));
    const most = await Promise.all(
      [0, 1, 2, 3].map(
        (worker) =>
          new Promise<number>((resolve, reject) => {
            const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
            const thread = new Worker(url, { workerData: { memory, worker, inside } });
            thread.once("message", resolve);
            thread.once("error", reject);
          }),
      ),
    );
    expect(Math.max(...most)).to.be.at.most(2);
    expect(entered(own, "client", 1)).to.equal(true);
  });
});
