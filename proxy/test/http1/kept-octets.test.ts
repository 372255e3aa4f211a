import { expect } from "chai";
import { KeptOctets } from "../../src/http1/kept-octets.ts";

const octets = Buffer.from("Host: a.example\r\n\r\n");

/** The number of heads worth keeping among `heads` heads of one length, all different from the one that is kept. */
const worthOf = (kept: KeptOctets, heads: number): number =>
  Array.from({ length: heads }, () => kept.isWorthKeeping(100)).filter(Boolean).length;

describe("KeptOctets", () => {
  it("kept octets are found at any place, as a whole", () => {
    const kept = new KeptOctets();
    expect(kept.find(octets, 0)).to.equal(0);
    kept.keep(octets);
    expect(kept.find(Buffer.concat([Buffer.from("..."), octets, octets]), 3)).to.equal(octets.length);
    expect(kept.find(octets.subarray(0, -1), 0)).to.equal(0);
    expect(kept.find(Buffer.from("Host: b.example\r\n\r\n"), 0)).to.equal(0);
  });

  it("a head is worth keeping if it has the length of the head before, and at most 1,024 octets", () => {
    const kept = new KeptOctets();
    const lengths = [7, 7, 8, 7, 7, 1024, 1024, 1025, 1025];
    expect(lengths.map((length) => kept.isWorthKeeping(length))).to.deep.equal([
      ...[false, true, false],
      ...[false, true],
      ...[false, true],
      ...[false, false],
    ]);
  });

  it("heads of one length that differ are hardly ever kept, and are looked at again after a while", () => {
    const kept = new KeptOctets();
    kept.keep(octets);
    expect(worthOf(kept, 6)).to.equal(4);
    expect(kept.find(octets, 0)).to.equal(0);
    expect(worthOf(kept, 100_000)).to.be.within(1, 1000);
    while (kept.find(octets, 0) === 0) kept.isWorthKeeping(100);
    expect(kept.isWorthKeeping(100)).to.equal(true);
  });

  it("heads that repeat with changes now and then are kept for ever", () => {
    const kept = new KeptOctets();
    kept.keep(octets);
    worthOf(kept, 2);
    for (let change = 0; change < 100; change++) {
      expect(kept.find(octets, 0)).to.equal(octets.length);
      expect(kept.isWorthKeeping(100), String(change)).to.equal(true);
    }
  });
});
