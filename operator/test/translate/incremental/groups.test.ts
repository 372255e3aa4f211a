import { expect } from "chai";
import fc from "fast-check";
import { createGroups } from "../../../src/translate/incremental/groups.ts";

type Member = { readonly key: string; readonly id: number };

const member: fc.Arbitrary<Member> = fc.constantFrom(
  ...["a", "b", "c"].flatMap((key) => [1, 2, 3].map((id) => ({ key, id }))),
);

const setUp = () => {
  let builds = 0;
  const groups = createGroups(
    ({ key }: Member) => key,
    (members) => {
      builds++;
      return {
        key: members[0].key,
        ids: members
          .map(({ id }) => id)
          .sort((a, b) => a - b)
          .join(),
      };
    },
  );
  return { groups, builds: () => builds };
};

describe("createGroups", () => {
  it("createGroups holds after any edits what it holds from scratch", () => {
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(member, { maxLength: 9 }), { maxLength: 8 }), (states) => {
        const { groups } = setUp();
        let present: readonly Member[] = [];
        let results = new Set<object>();
        for (const next of states) {
          const { removed, added } = groups.edit({
            removed: present.filter((one) => !next.includes(one)),
            added: next.filter((one) => !present.includes(one)),
          });
          present = next;
          const scratch = setUp().groups;
          scratch.edit({ removed: [], added: next });
          expect(groups.entries).to.deep.equal(scratch.entries);
          for (const one of removed) expect(results).to.include(one);
          results = new Set([...[...results].filter((one) => !removed.includes(one as never)), ...added]);
          expect([...results]).to.have.members([...groups.entries.values]);
        }
      }),
    );
  });

  it("createGroups rebuilds only the groups that lost or gained a member", () => {
    const { groups, builds } = setUp();
    const all = ["a", "b", "c"].map((key) => ({ key, id: 1 }));
    groups.edit({ removed: [], added: all });
    expect(builds()).to.equal(3);
    const before = groups.entries;
    groups.edit({ removed: [], added: [] });
    expect(groups.entries).to.equal(before);
    groups.edit({ removed: [], added: [{ key: "b", id: 2 }] });
    expect(builds()).to.equal(4);
    expect(groups.entries.values[0]).to.equal(before.values[0]);
  });

  it("createGroups removes one occurrence of a member that was added twice", () => {
    const { groups } = setUp();
    const twice = { key: "a", id: 1 };
    groups.edit({ removed: [], added: [twice, twice] });
    groups.edit({ removed: [twice], added: [] });
    expect(groups.entries.values.map(({ ids }) => ids)).to.deep.equal(["1"]);
  });
});
