import { expect } from "chai";
import fc from "fast-check";
import { Worker } from "node:worker_threads";
import { createRateStore, type Rate } from "../../src/filters/rate-store.ts";
import { createShareMemory, keysPerShare } from "../../src/shared/share-memory.ts";
import type { ShareOwner } from "../../src/shared/share-directory.ts";
import { milliseconds, ShareTable } from "../../src/shared/share-table.ts";

/** Sets the expiry of a key, as the user of the table does. */
function keep(table: ShareTable, owner: ShareOwner, key: string, nowMs: number, untilMs: number): void {
  const at = table.find(owner, key, nowMs);
  expect(table.replace(at, Atomics.load(table.words, at), untilMs)).to.equal(true);
}

const timeOf = (table: ShareTable, owner: ShareOwner, key: string, nowMs: number): number =>
  milliseconds(Atomics.load(table.words, table.find(owner, key, nowMs)));

const keysOf = (count: number, prefix = "key"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

describe("ShareTable", () => {
  it("the share table keeps one time per owner and key, the same for every worker", () => {
    const memory = createShareMemory(16);
    const tables = [new ShareTable(memory), new ShareTable(memory)] as const;
    const owners = ["a", "b"].map((group) => tables.map((table) => table.owner(group, "route")));
    const keys = fc.uniqueArray(fc.string(), { maxLength: 200 });
    fc.assert(
      fc.property(keys, (texts) => {
        const places = owners.flatMap(([first]) =>
          texts.map((text) => {
            keep(tables[0], first as ShareOwner, text, 1, 1000);
            return tables[0].find(first as ShareOwner, text, 1);
          }),
        );
        expect(new Set(places).size).to.equal(texts.length * 2);
        const ofOther = owners.flatMap(([, second]) =>
          texts.map((text) => tables[1].find(second as ShareOwner, text, 1)),
        );
        expect(ofOther).to.deep.equal(places);
      }),
      { numRuns: 10 },
    );
  });

  it("the share table keeps the keys of a group up to its part, under any load from others", () => {
    const actions = fc.array(
      fc.record({
        group: fc.constantFrom("flood 1", "flood 2", "flood 3"),
        name: fc.integer({ min: 0, max: 40 }),
        keys: fc.integer({ min: 1, max: 900 }),
        untilMs: fc.integer({ min: 2_000, max: 1_000_000 }),
        worker: fc.constantFrom(0, 1),
      }),
      { minLength: 20, maxLength: 60 },
    );
    fc.assert(
      fc.property(actions, fc.integer({ min: 1, max: 500 }), (flood, count) => {
        const memory = createShareMemory(16);
        const tables = [new ShareTable(memory), new ShareTable(memory)] as const;
        // Its part is 4 shares; 500 keys are in 2, or in 3 when many meet in a bucket.
        const victim = tables[0].owner("victim", "route");
        const keys = keysOf(count);
        let total = 0;
        for (const [index, { group, name, keys: more, untilMs, worker }] of flood.entries()) {
          if (index === 10) for (const key of keys) keep(tables[0], victim, key, 1_000, 1_500_000);
          const table = tables[worker as 0 | 1];
          const owner = table.owner(group, `route ${name}`);
          for (const key of keysOf(more, `${total}`)) keep(table, owner, key, 1_000, untilMs);
          total += more;
        }
        const lost = keys.filter((key) => timeOf(tables[1], victim, key, 1_001) !== 1_500_000);
        expect(lost).to.deep.equal([]);
      }),
      { numRuns: 15 },
    );
  });

  it("the share table keeps the keys of an owner from others of its group, up to its part", () => {
    const table = new ShareTable(createShareMemory(8));
    const victim = table.owner("ns", "victim");
    const keys = keysOf(300);
    for (const key of keys) keep(table, victim, key, 1_000, 9_000);
    const flood = table.owner("ns", "flood");
    for (const key of keysOf(20 * keysPerShare)) keep(table, flood, key, 1_000, 900_000);
    expect(keys.filter((key) => timeOf(table, victim, key, 1_001) === 0)).to.deep.equal([]);
    const late = table.owner("other", "late");
    for (const key of keys) keep(table, late, key, 1_002, 9_000);
    expect(keys.filter((key) => timeOf(table, late, key, 1_003) === 0)).to.deep.equal([]);
    expect(keys.filter((key) => timeOf(table, victim, key, 1_003) === 0)).to.deep.equal([]);
  });

  it("a single group may use all shares while no other group needs them", () => {
    const table = new ShareTable(createShareMemory(64));
    const only = table.owner("ns", "route");
    const keys = keysOf(32 * keysPerShare);
    for (const key of keys) keep(table, only, key, 1_000, 9_000);
    expect(keys.filter((key) => timeOf(table, only, key, 1_001) === 0)).to.deep.equal([]);
  });

  it("the share table reuses expired places and shares without losing others", () => {
    const table = new ShareTable(createShareMemory(4));
    for (let round = 0; round < 20; round++) {
      const nowMs = 1_000 + round * 20_000;
      const owner = table.owner(`ns ${round}`, "route");
      const keys = keysOf(1_500, `round ${round}`);
      for (const key of keys) keep(table, owner, key, nowMs, nowMs + 5_000);
      expect(keys.filter((key) => timeOf(table, owner, key, nowMs + 1) === 0)).to.deep.equal([]);
    }
  });

  it("an owner returns shares when their times have expired", () => {
    const table = new ShareTable(createShareMemory(32));
    const owner = table.owner("ns", "route");
    for (const key of keysOf(8 * keysPerShare)) keep(table, owner, key, 1_000, 2_000);
    expect(owner.shares.length).to.be.greaterThan(4);
    timeOf(table, owner, "any", 20_000);
    expect(owner.shares).to.have.lengthOf(1);
  });

  it("owners beyond the number of shares get places in shared ones", () => {
    const table = new ShareTable(createShareMemory(4));
    const owners = Array.from({ length: 10 }, (_, index) => table.owner(`ns ${index}`, "route"));
    for (const owner of owners) keep(table, owner, "client", 1_000, 9_000);
    expect(owners.map((owner) => timeOf(table, owner, "client", 1_001))).to.deep.equal(
      owners.map(() => 9_000),
    );
  });

  it("a full owner displaces its own time that expires first", () => {
    const table = new ShareTable(createShareMemory(1));
    const owner = table.owner("ns", "route");
    const keys = keysOf(100);
    for (const key of keys) keep(table, owner, key, 1_000, 1_000_000);
    for (const key of keysOf(10_000, "flood")) keep(table, owner, key, 1_000, 2_000);
    expect(keys.filter((key) => timeOf(table, owner, key, 1_001) === 0)).to.deep.equal([]);
  });
});

describe("rates that several threads count", () => {
  it("four threads that count one rate admit no more together than one would", async () => {
    const memory = createShareMemory(4);
    const source = new URL("../../src/filters/rate-store.ts", import.meta.url);
    const program = `
      import { parentPort, workerData } from "node:worker_threads";
      import { createRateStore } from ${JSON.stringify(source.href)};
      const counter = createRateStore(workerData).counter("ns", "route");
      const rate = { intervalMs: 1000, capacityMs: 100_000 };
      let admitted = 0;
      for (let i = 0; i < 20_000; i++) if (counter.take("client", rate, 5) === 0) admitted++;
      parentPort.postMessage(admitted);`;
    // The first request claims share and place; two that do so at one moment may count in two.
    const rate: Rate = { intervalMs: 1000, capacityMs: 100_000 };
    expect(createRateStore(memory).counter("ns", "route").take("client", rate, 5)).to.equal(0);
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
    expect(admitted.reduce((sum, each) => sum + each)).to.equal(99);
    expect(createRateStore(memory).counter("ns", "route").take("client", rate, 5)).to.equal(1000);
  });
});
