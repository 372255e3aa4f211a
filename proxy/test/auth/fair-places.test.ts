import { expect } from "chai";
import { FairPlaces } from "../../src/auth/fair-places.ts";

describe("places that several owners share", () => {
  const take = (places: FairPlaces, owner: string, name: string, lost: string[]): (() => void) | undefined =>
    places.take(owner, () => void lost.push(name));

  it("a single owner can take all places, and no more", () => {
    const places = new FairPlaces(2);
    const lost: string[] = [];
    const [first, second, third] = ["1", "2", "3"].map((name) => take(places, "a", name, lost));
    expect([first, second]).to.not.include(undefined);
    expect(third).to.equal(undefined);
    first?.();
    first?.();
    expect(take(places, "a", "4", lost)).to.be.a("function");
    expect(take(places, "a", "5", lost)).to.equal(undefined);
    expect(lost).to.deep.equal([]);
  });

  it("places are taken from the owner with the most for owners with fewer, the oldest first", () => {
    const places = new FairPlaces(4);
    const lost: string[] = [];
    const held = ["a1", "a2", "a3", "a4"].map((name) => take(places, "a", name, lost));
    expect(take(places, "b", "b1", lost)).to.be.a("function");
    expect(take(places, "b", "b2", lost)).to.be.a("function");
    expect(lost).to.deep.equal(["a1", "a2"]);
    // Two each.
    for (const owner of ["a", "b"]) expect(take(places, owner, "no", lost)).to.equal(undefined);
    expect(take(places, "c", "c1", lost)).to.be.a("function");
    expect(lost).to.deep.equal(["a1", "a2", "a3"]);
    // What was lost cannot be given back.
    held[0]?.();
    expect(take(places, "b", "no", lost)).to.equal(undefined);
    held[3]?.();
    expect(take(places, "b", "b3", lost)).to.be.a("function");
  });
});
