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
          const { gone, come } = groups.edit({
            gone: present.filter((one) => !next.includes(one)),
            come: next.filter((one) => !present.includes(one)),
          });
          present = next;
          const scratch = setUp().groups;
          scratch.edit({ gone: [], come: next });
          expect(groups.entries).to.deep.equal(scratch.entries);
          for (const one of gone) expect(results).to.include(one);
          results = new Set([...[...results].filter((one) => !gone.includes(one as never)), ...come]);
          expect([...results]).to.have.members([...groups.entries.values]);
        }
      }),
    );
  });

  it("createGroups rebuilds only the groups that lost or gained a member", () => {
    const { groups, builds } = setUp();
    const all = ["a", "b", "c"].map((key) => ({ key, id: 1 }));
    groups.edit({ gone: [], come: all });
    expect(builds()).to.equal(3);
    const before = groups.entries;
    groups.edit({ gone: [], come: [] });
    expect(groups.entries).to.equal(before);
    groups.edit({ gone: [], come: [{ key: "b", id: 2 }] });
    expect(builds()).to.equal(4);
    expect(groups.entries.values[0]).to.equal(before.values[0]);
  });

  it("createGroups removes one occurrence of a member that was added twice", () => {
    const { groups } = setUp();
    const twice = { key: "a", id: 1 };
    groups.edit({ gone: [], come: [twice, twice] });
    groups.edit({ gone: [twice], come: [] });
    expect(groups.entries.values.map(({ ids }) => ids)).to.deep.equal(["1"]);
  });
});
