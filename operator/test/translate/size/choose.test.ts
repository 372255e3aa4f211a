import { expect } from "chai";
import fc from "fast-check";
import { chooseLeftOut, type Sized } from "../../../src/translate/size/choose.ts";

type Given = readonly [
  namespace: string,
  name: string,
  createdMs: number,
  bytes: readonly [number, number, number],
];

const sized = ([namespace, name, createdMs, bytes]: Given): Sized => ({
  size: {
    object: { kind: "Ingress", namespace, name },
    age: { createdMs, key: `${namespace}/${name}` },
    scopes: [{ scope: "shared", bytes }],
    isTooLarge: false,
  },
  bytes,
});

const chosen = (objects: readonly Given[], maxBytes: number): readonly string[] =>
  chooseLeftOut("shared", objects.map(sized), maxBytes).map(
    ({ object, level }) => `${object.namespace}/${object.name} ${level}`,
  );

describe("the choice of what is left out of a full snapshot", () => {
  it("nothing is left out of a snapshot while everything fits", () => {
    expect(chosen([["a", "x", 1, [100, 10, 1]]], 100)).to.deep.equal([]);
  });

  it("the newest of the largest objects of the largest namespace are left out, and no more than needed", () => {
    const objects: readonly Given[] = [
      ["big", "old", 1, [1000, 10, 1]],
      ["big", "new", 3, [1000, 10, 1]],
      ["big", "middle", 2, [900, 10, 1]],
      ["big", "newest-and-small", 9, [100, 10, 1]],
      ["small", "newest", 9, [1500, 10, 1]],
    ];
    expect(chosen(objects, 3600)).to.deep.equal(["big/new 1"]);
    expect(chosen(objects, 2900)).to.deep.equal(["big/new 1", "big/middle 1"]);
  });

  it("objects of another namespace are left out once that namespace takes the most", () => {
    const objects: readonly Given[] = [
      ["a", "one", 1, [1000, 10, 1]],
      ["a", "two", 2, [1000, 10, 1]],
      ["b", "one", 3, [1500, 10, 1]],
      ["c", "one", 4, [100, 10, 1]],
    ];
    expect(chosen(objects, 1200)).to.deep.equal(["a/two 1", "b/one 1"]);
  });

  it("first matches and then whole objects are left out where closing routes does not make enough room", () => {
    const objects: readonly Given[] = [
      ["a", "one", 1, [1000, 900, 400]],
      ["a", "two", 2, [1000, 900, 400]],
    ];
    expect(chosen(objects, 1900)).to.deep.equal(["a/two 1"]);
    expect(chosen(objects, 1400)).to.deep.equal(["a/two 2", "a/one 1"]);
    expect(chosen(objects, 500)).to.deep.equal(["a/two 3", "a/one 2"]);
    expect(chosen(objects, 0)).to.deep.equal(["a/two 3", "a/one 3"]);
  });

  it("the choice always fits, is independent of order, and spares namespaces below their share", () => {
    const object = fc
      .tuple(
        fc.constantFrom("a", "b", "c", "d"),
        fc.string({ minLength: 1, maxLength: 3 }),
        fc.nat(5),
        fc.tuple(fc.nat(1000), fc.nat(300), fc.nat(100)),
      )
      .map(([namespace, name, age, [full, closed, hosts]]): Given => [
        namespace,
        name,
        age,
        [full + 1, closed, hosts],
      ]);
    const objects = fc.uniqueArray(object, { selector: ([namespace, name]) => `${namespace}/${name}` });
    fc.assert(
      fc.property(objects, fc.nat(3000), (given, maxBytes) => {
        const all = given.map(sized);
        const out = chooseLeftOut("shared", all, maxBytes);
        const levels = new Map(
          out.map(({ object: { namespace, name }, level }) => [`${namespace}/${name}`, level]),
        );
        let total = 0;
        const perNamespace = new Map<string, number>();
        for (const [namespace, name, , bytes] of given) {
          const level = levels.get(`${namespace}/${name}`) ?? 0;
          total += level === 3 ? 0 : Math.min(...bytes.slice(0, level + 1));
          perNamespace.set(namespace, (perNamespace.get(namespace) ?? 0) + bytes[0]);
        }
        expect(total).to.be.at.most(maxBytes);
        const again = chooseLeftOut("shared", all.toReversed(), maxBytes);
        expect(new Set(again)).to.deep.equal(new Set(out));
        const share = maxBytes / 4;
        for (const {
          object: { namespace = "" },
        } of out) {
          expect(perNamespace.get(namespace)).to.be.greaterThan(share);
        }
      }),
    );
  });
});
