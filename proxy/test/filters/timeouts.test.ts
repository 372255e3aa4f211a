import { expect } from "chai";
import { timeoutsFilter } from "../../src/filters/timeouts.ts";
import { exchange } from "./support.ts";

describe("the timeouts filter", () => {
  it("timeouts: the limits of the upstream request are set on the exchange", () => {
    const under = exchange();
    expect(under.upstreamTimeouts).to.equal(undefined);
    expect(timeoutsFilter({ readTimeoutMs: 5 }).onRequest?.(under)).to.equal(undefined);
    expect(under.upstreamTimeouts).to.deep.equal({ readTimeoutMs: 5 });
  });
});
