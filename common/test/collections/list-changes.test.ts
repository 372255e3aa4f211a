import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { expect } from "chai";
import fc from "fast-check";

const entry = fc.constantFrom(...Array.from({ length: 60 }, (_, id) => ({ id })));
const list = fc.uniqueArray(entry, { maxLength: 60 });

describe("listChanges", () => {
  it("the changes lead from one list to the other", () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { removed, added } = listChanges(before, after);
        const left = before.filter((one) => !removed.includes(one));
        expect([...left, ...added]).to.have.members(after);
        for (const one of removed) expect(before).to.include(one);
      }),
    );
  });

  it("the changes are minimal where entries were only inserted or removed", () => {
    fc.assert(
      fc.property(list, fc.nat(59), fc.nat(59), (entries, from, length) => {
        const part = entries.slice(from, from + length);
        const rest = entries.filter((one) => !part.includes(one));
        expect(listChanges(entries, rest)).to.deep.equal({ removed: part, added: [] });
        expect(listChanges(rest, entries)).to.deep.equal({ removed: [], added: part });
      }),
    );
  });
});
