import { expect } from "chai";
import { Repeats } from "../../src/http1/repeats.ts";

/** How many of so many heads of one length, none of which is the kept one, are worth keeping. */
const keptOf = (repeats: Repeats, heads: number): number =>
  Array.from({ length: heads }, () => repeats.isWorthKeeping(100)).filter(Boolean).length;

describe("Repeats", () => {
  it("a head is worth keeping if it has the length of the head before", () => {
    const repeats = new Repeats();
    expect([7, 7, 8, 7, 7].map((length) => repeats.isWorthKeeping(length))).to.deep.equal([
      ...[false, true, false],
      ...[false, true],
    ]);
  });

  it("heads of one length that differ are hardly ever kept, and are looked at again after a while", () => {
    const repeats = new Repeats();
    expect(keptOf(repeats, 6)).to.equal(4);
    expect(repeats.areLikely).to.equal(false);
    expect(keptOf(repeats, 100_000)).to.be.within(1, 1000);
    while (!repeats.areLikely) repeats.isWorthKeeping(100);
    expect(repeats.isWorthKeeping(100)).to.equal(true);
  });

  it("heads that repeat with changes now and then are kept for ever", () => {
    const repeats = new Repeats();
    keptOf(repeats, 2);
    for (let change = 0; change < 100; change++) {
      repeats.found();
      expect(repeats.isWorthKeeping(100), String(change)).to.equal(true);
    }
  });
});
