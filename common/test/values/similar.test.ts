import { expect } from "chai";
import { didYouMean, mostSimilar } from "../../src/values/similar.ts";

describe("mostSimilar", () => {
  const kinds = ["HTTPRoute", "GRPCRoute", "RateLimit", "IpAccessControl"];

  it("finds a name with two wrong characters, and one in another case", () => {
    expect(mostSimilar("RatLimt", kinds)).to.equal("RateLimit");
    expect(mostSimilar("httproute", kinds)).to.equal("HTTPRoute");
    expect(mostSimilar("IPAccessControls", kinds)).to.equal("IpAccessControl");
  });

  it("counts two neighbours that are swapped as one mistake", () => {
    expect(mostSimilar("hots", ["host", "http"])).to.equal("host");
  });

  it("finds a name of which only the beginning is there, unless that is short", () => {
    expect(mostSimilar("ingressClass", ["ingressClassName", "rules"])).to.equal("ingressClassName");
    expect(mostSimilar("ingre", ["ingressClassName"])).to.equal(undefined);
  });

  it("finds nothing where no name is close", () => {
    expect(mostSimilar("Deployment", kinds)).to.equal(undefined);
    expect(mostSimilar("", kinds)).to.equal(undefined);
    expect(mostSimilar("ab", ["cd"])).to.equal(undefined);
  });

  it("cuts a hostile text instead of comparing all of it", () => {
    expect(mostSimilar("a".repeat(10_000_000), kinds)).to.equal(undefined);
  });
});

describe("didYouMean", () => {
  it("asks for the similar name, and is empty without one", () => {
    expect(didYouMean("servce", ["service", "port"])).to.equal(" (did you mean service?)");
    expect(didYouMean("colour", ["service", "port"])).to.equal("");
  });
});
