import { expect } from "chai";
import fc from "fast-check";
import { Worker } from "node:worker_threads";
import { createRateMemory, createRateStore } from "../../src/filters/rate-store.ts";
import { createTableMemory, SharedTable } from "../../src/shared/shared-table.ts";

describe("a shared table", () => {
  it("keeps one entry per key, the same for every worker", () => {
    const memory = createTableMemory(4000, 2);
    const tables = [new SharedTable(memory, 2), new SharedTable(memory, 2)] as const;
    const keys = fc.uniqueArray(fc.string(), { maxLength: 200 });
    fc.assert(
      fc.property(keys, (texts) => {
        const places = texts.map((text) => tables[0].find(text, 1));
        expect(new Set(places).size).to.equal(texts.length);
        expect(texts.map((text) => tables[1].find(text, 1))).to.deep.equal(places);
      }),
      { numRuns: 10 },
    );
  });

  it("begins with zeros, also where another key was before", () => {
    const table = new SharedTable(createTableMemory(8, 2), 2);
    for (let key = 0; key < 100; key++) {
      const at = table.find(`key ${key}`, key);
      expect([table.words[at], table.words[at + 1]]).to.deep.equal([0n, 0n]);
      table.words.fill(7n, at, at + 2);
    }
  });

  it("gives up the entry that was used longest ago", () => {
    const table = new SharedTable(createTableMemory(8, 1), 1);
    for (let key = 0; key < 8; key++) table.words[table.find(`key ${key}`, key + 1)] = BigInt(key + 1);
    table.find("key 0", 100);
    table.find("new", 101);
    const held = (key: string): bigint | undefined => table.words[table.find(key, 102)];
    expect(held("key 0")).to.equal(1n);
    expect(held("key 2")).to.equal(3n);
    expect(held("key 1")).to.equal(0n);
  });

  it("spreads keys evenly: hardly any is lost in a table that is half full", () => {
    const table = new SharedTable(createTableMemory(80_000, 1), 1);
    const keys = Array.from(
      { length: 40_000 },
      (_, i) => `ingress/ns/web:0.0 10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    );
    for (const key of keys) Atomics.store(table.words, table.find(key, 1), 1n);
    const lost = keys.filter((key) => table.words[table.find(key, 2)] === 0n).length;
    // Poisson with a mean of 4 in places for 8: about one in a hundred.
    expect(lost / keys.length).to.be.lessThan(0.05);
  });
});

describe("rates that several threads count", () => {
  it("admit no more together than one would", async () => {
    const memory = createRateMemory(1000);
    const source = new URL("../../src/filters/rate-store.ts", import.meta.url);
    const program = `
      import { parentPort, workerData } from "node:worker_threads";
      import { createRateStore } from ${JSON.stringify(source.href)};
      const store = createRateStore(workerData);
      const rate = { intervalMs: 1000, capacityMs: 100_000 };
      let admitted = 0;
      for (let i = 0; i < 20_000; i++) if (store.take("client", rate, 5) === 0) admitted++;
      parentPort.postMessage(admitted);`;
    const admitted = await Promise.all(
      [1, 2, 3, 4].map(
        () =>
          new Promise<number>((resolve, reject) => {
            const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
            const thread = new Worker(url, { workerData: memory });
            thread.once("message", resolve);
            thread.once("error", reject);
          }),
      ),
    );
    expect(admitted.reduce((sum, each) => sum + each)).to.equal(100);
    expect(createRateStore(memory).take("client", { intervalMs: 1000, capacityMs: 100_000 }, 5)).to.equal(
      1000,
    );
  });
});
