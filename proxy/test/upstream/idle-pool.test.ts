import { expect } from "chai";
import fc from "fast-check";
import { createIdlePool } from "../../src/upstream/idle-pool.ts";

describe("createIdlePool", () => {
  it("the idle pool keeps the latest connections up to its bound, and closes each of the others once", () => {
    const step = fc.record({ add: fc.boolean(), id: fc.nat(9) });
    fc.assert(
      fc.property(fc.nat(5), fc.array(step, { maxLength: 60 }), (bound, steps) => {
        const pool = createIdlePool(bound);
        const closed: number[] = [];
        const connections = Array.from({ length: 10 }, (_, id) => ({ closeIdle: () => closed.push(id) }));
        const model: number[] = [];
        const expected: number[] = [];
        for (const { add, id } of steps) {
          const connection = connections[id];
          if (connection === undefined || (add && model.includes(id))) continue;
          if (add) {
            pool.add(connection);
            model.push(id);
            if (model.length > bound) expected.push(model.shift() as number);
          } else {
            pool.remove(connection);
            if (model.includes(id)) model.splice(model.indexOf(id), 1);
          }
          expect([pool.size, closed]).to.deep.equal([model.length, expected]);
        }
      }),
    );
  });

  it("the idle pool closes the connection that has been idle longest when it is asked to, and says when it has none", () => {
    const pool = createIdlePool(10);
    const closed: number[] = [];
    for (const id of [1, 2]) pool.add({ closeIdle: () => closed.push(id) });
    expect([pool.closeOldest(), closed]).to.deep.equal([true, [1]]);
    expect([pool.closeOldest(), pool.closeOldest()]).to.deep.equal([true, false]);
    expect([pool.size, closed]).to.deep.equal([0, [1, 2]]);
  });

  it("the idle pool closes connections that have been idle for too long, and no others", () => {
    const step = fc.record({
      add: fc.boolean(),
      id: fc.nat(5),
      timeoutMs: fc.option(fc.nat(50), { nil: undefined }),
      passMs: fc.nat(30),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowMs = 0;
        const pool = createIdlePool(100, () => nowMs);
        const closed: number[] = [];
        const connections = Array.from({ length: 6 }, (_, id) => ({ closeIdle: () => closed.push(id) }));
        const due = new Map<number, number>();
        for (const { add, id, timeoutMs, passMs } of steps) {
          const connection = connections[id];
          if (connection === undefined) continue;
          if (!add) {
            pool.remove(connection);
            due.delete(id);
          } else if (!due.has(id)) {
            pool.add(connection, timeoutMs);
            due.set(id, timeoutMs === undefined ? Number.POSITIVE_INFINITY : nowMs + timeoutMs);
          }
          nowMs += passMs;
          const late = [...due].filter(([, dueMs]) => dueMs <= nowMs).map(([name]) => name);
          for (const [name, dueMs] of due) {
            expect(pool.hasExpired(connections[name] as (typeof connections)[number])).to.equal(
              dueMs <= nowMs,
            );
          }
          for (const name of late) due.delete(name);
          pool.closeExpired(nowMs);
          expect(closed.splice(0)).to.have.members(late);
          expect(pool.size).to.equal(due.size);
        }
      }),
    );
  });
});
