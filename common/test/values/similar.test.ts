import { expect } from "chai";
import { didYouMean, mostSimilar } from "../../src/values/similar.ts";

describe("mostSimilar", () => {
  const kinds = ["HTTPRoute", "GRPCRoute", "RateLimit", "IpAccessControl"];

  it("a name with two wrong characters or another case is found", () => {
    expect(mostSimilar("RatLimt", kinds)).to.equal("RateLimit");
    expect(mostSimilar("httproute", kinds)).to.equal("HTTPRoute");
    expect(mostSimilar("IPAccessControls", kinds)).to.equal("IpAccessControl");
  });

  it("two swapped neighbours count as one mistake", () => {
    expect(mostSimilar("hots", ["host", "http"])).to.equal("host");
  });

  it("a name is found by its beginning, unless that is short", () => {
    expect(mostSimilar("ingressClass", ["ingressClassName", "rules"])).to.equal("ingressClassName");
    expect(mostSimilar("ingre", ["ingressClassName"])).to.equal(undefined);
  });

  it("no name is found where none is close", () => {
    expect(mostSimilar("Deployment", kinds)).to.equal(undefined);
    expect(mostSimilar("", kinds)).to.equal(undefined);
    expect(mostSimilar("ab", ["cd"])).to.equal(undefined);
  });

  it("a very long text is cut instead of compared in full", () => {
    expect(mostSimilar("a".repeat(10_000_000), kinds)).to.equal(undefined);
  });
});

describe("didYouMean", () => {
  it("didYouMean suggests the similar name and is empty without one", () => {
    expect(didYouMean("servce", ["service", "port"])).to.equal(" (did you mean service?)");
    expect(didYouMean("colour", ["service", "port"])).to.equal("");
  });
});
