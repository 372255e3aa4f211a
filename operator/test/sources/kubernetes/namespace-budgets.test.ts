import { expect } from "chai";
import fc from "fast-check";
import { createNamespaceBudgets, weigh } from "../../../src/sources/kubernetes/namespace-budgets.ts";
import { createManualClock } from "../../../../common/test/time/manual-clock.ts";

/** Budgets, and the objects that a store which follows them holds. */
function setUp(maxBytes: number) {
  const clock = createManualClock();
  const held = new Set<string>();
  const all = new Map<string, { bytes: number; createdMs: number; rank: number; namespace: string }>();
  const budgets = createNamespaceBudgets({
    maxBytes,
    clock,
    onLeave: (key) => held.delete(key),
    onReturn: (key) => held.add(key),
  });
  return {
    budgets,
    held: () => [...held].sort(),
    put(key: string, bytes: number, createdMs: number, rank = 1, namespace = "a") {
      all.set(key, { bytes, createdMs, rank, namespace });
      if (budgets.put(key, { namespace, bytes, rank, createdMs })) held.add(key);
      else held.delete(key);
    },
    delete(key: string) {
      all.delete(key);
      budgets.delete(key);
      held.delete(key);
    },
    settle: () => clock.advance(1000),
    /** The keys that should be held, computed from scratch. */
    expected() {
      const result: string[] = [];
      for (const namespace of new Set([...all.values()].map((one) => one.namespace))) {
        let bytes = 0;
        const ordered = [...all]
          .filter(([, one]) => one.namespace === namespace)
          .sort(([k, a], [l, b]) => a.rank - b.rank || a.createdMs - b.createdMs || (k < l ? -1 : 1));
        for (const [key, one] of ordered) {
          bytes += one.bytes;
          if (bytes > maxBytes) break;
          result.push(key);
        }
      }
      return result.sort();
    },
  };
}

describe("the budgets of namespaces", () => {
  it("the newest objects of a namespace above its limit are left out, in any order, and none of other namespaces", async () => {
    const { put, held, settle, budgets } = setUp(100);
    put("new", 40, 3);
    put("middle", 40, 2);
    put("other", 90, 9, 1, "b");
    expect(budgets.isExceeded()).to.equal(false);
    put("old", 40, 1);
    await settle();
    expect(held()).to.deep.equal(["middle", "old", "other"]);
    expect(budgets.isExceeded()).to.equal(true);
  });

  it("an object returns when there is room for it again", async () => {
    const stand = setUp(100);
    stand.put("a", 60, 1);
    stand.put("b", 60, 2);
    await stand.settle();
    expect(stand.held()).to.deep.equal(["a"]);
    stand.delete("a");
    await stand.settle();
    expect(stand.held()).to.deep.equal(["b"]);
    expect(stand.budgets.isExceeded()).to.equal(false);
  });

  it("objects that protect others are left out last", async () => {
    const { put, held, settle } = setUp(100);
    put("route", 60, 1);
    put("protection", 60, 9, 0);
    await settle();
    expect(held()).to.deep.equal(["protection"]);
  });

  it("the objects that are held in the end depend only on the objects, not on their history", async () => {
    const step = fc.oneof(
      fc.tuple(
        fc.constantFrom("a", "b", "c", "d", "e", "f"),
        fc.nat(60),
        fc.nat(5),
        fc.nat(1),
        fc.constantFrom("x", "y"),
        fc.boolean(),
      ),
      fc.constantFrom("xa", "xb", "xc", "ya", "yb", "yc"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const stand = setUp(100);
        for (const one of steps) {
          if (typeof one === "string") stand.delete(one);
          else {
            const [name, bytes, createdMs, rank, namespace, settles] = one;
            stand.put(`${namespace}${name}`, bytes, createdMs, rank, namespace);
            if (settles) await stand.settle();
          }
        }
        await stand.settle();
        expect(stand.held()).to.deep.equal(stand.expected());
      }),
    );
  });

  it("the weight of an object is about the length of its texts", () => {
    expect(weigh({ data: { key: "x".repeat(1000) } })).to.be.within(1000, 1100);
  });
});
