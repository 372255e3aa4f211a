import { expect } from "chai";
import { Holdings } from "../../src/fairness/holdings.ts";
import { ListenerHoldings } from "../../src/fairness/listener-holdings.ts";

describe("holdings", () => {
  it("holdings find the oldest item of the owner with the most after any additions and removals", () => {
    const holdings = new Holdings<number>();
    const expected = new Map<string, number[]>();
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let item = 0; item < 3_000; item++) {
      const owner = `owner ${random(12)}`;
      const own = expected.get(owner) ?? [];
      expected.set(owner, own);
      if (random(2) === 0) {
        own.push(item);
        holdings.add(owner, item);
      } else {
        const [taken = -1] = own.splice(random(own.length + 1), 1);
        expect(holdings.delete(owner, taken)).to.equal(taken >= 0);
      }
      const most = Math.max(...[...expected.values()].map(({ length }) => length));
      const oldest = [...expected.values()].filter(({ length }) => length === most).map(([first]) => first);
      expect(holdings.size).to.equal([...expected.values()].flat().length);
      expect(holdings.countOf(owner)).to.equal(own.length);
      expect(oldest).to.include(holdings.oldestOfMost());
      expect(holdings.oldestOfMost(most + 1)).to.equal(undefined);
    }
  });

  it("holdings choose the owner that has had its number for longest among owners with equal numbers", () => {
    const holdings = new Holdings<string>();
    holdings.add("a", "a1");
    holdings.add("b", "b1");
    holdings.add("b", "b2");
    holdings.add("a", "a2");
    expect(holdings.oldestOfMost()).to.equal("b1");
    holdings.delete("b", "b1");
    expect(holdings.oldestOfMost()).to.equal("a1");
  });
});

describe("holdings of listeners", () => {
  const from = (listener: number, network: string) => ({ listener, network });

  it("the network with the most on the listener with the most loses an item to another listener", () => {
    const holdings = new ListenerHoldings<string>();
    holdings.add(from(80, "x"), "x1");
    holdings.add(from(80, "y"), "y1");
    holdings.add(from(80, "y"), "y2");
    holdings.add(from(81, "z"), "z1");
    expect(holdings.evictionFor(from(82, "x"))).to.equal("y1");
    expect(holdings.evictionFor(from(81, "x"))).to.equal("y1");
    holdings.delete(from(80, "x"), "x1");
    // One more for 81 would make it as large.
    expect(holdings.evictionFor(from(81, "x"))).to.equal(undefined);
    expect(holdings.evictionFor(from(80, "w"))).to.equal("y1");
    expect(holdings.evictionFor(from(80, "y"))).to.equal(undefined);
    expect(holdings.oldestOfMost()).to.equal("y1");
    expect(holdings.oldestOf(81)).to.equal("z1");
    expect([holdings.size, holdings.countOf(80), holdings.countOf(9)]).to.deep.equal([3, 2, 0]);
  });
});
