import {
  changeEntries,
  entriesUnder,
  noEntries,
  sortEntries,
  type SortedEntries,
} from "@svc-gateway/common/ir/sorted-entries.ts";
import { expect } from "chai";
import fc from "fast-check";

const key = fc.integer({ min: 0, max: 60 }).map((number) => `key-${number}`);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat({ max: 3 }), { nil: undefined })), { maxLength: 40 });

describe("changeEntries", () => {
  it("changeEntries gives what a map would hold, after few and after many changes", () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 6 }), (steps) => {
        const expected = new Map<string, number>();
        let entries: SortedEntries<number, string> = noEntries;
        for (const step of steps) {
          const before = structuredClone(entries);
          const next = changeEntries(entries, new Map(step));
          expect(entries).to.deep.equal(before);
          for (const [name, value] of new Map(step)) {
            if (value === undefined) expected.delete(name);
            else expected.set(name, value);
          }
          const sorted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1));
          expect(next).to.deep.equal({
            keys: sorted.map(([name]) => name),
            values: sorted.map(([, value]) => value),
          });
          entries = next;
        }
      }),
    );
  });
});

describe("entriesUnder", () => {
  it("entriesUnder finds the values of all keys with a prefix, in key order", () => {
    const entries = sortEntries(
      new Map([
        ["a/bc/80", 4],
        ["a/b/80", 2],
        ["a/b/443", 1],
        ["a-b/b/80", 0],
        ["a/b0/80", 3],
      ]),
    );
    expect(entriesUnder(entries, "a/b/")).to.deep.equal([1, 2]);
    expect(entriesUnder(entries, "a/bc/")).to.deep.equal([4]);
    expect(entriesUnder(entries, "a/bd/")).to.deep.equal([]);
    expect(entriesUnder(noEntries, "a")).to.deep.equal([]);
  });
});
