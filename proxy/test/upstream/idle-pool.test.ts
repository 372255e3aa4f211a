import { expect } from "chai";
import fc from "fast-check";
import { createIdlePool } from "../../src/upstream/idle-pool.ts";

describe("createIdlePool", () => {
  it("keeps the most recently added up to its bound, and closes each of the others once", () => {
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
});
