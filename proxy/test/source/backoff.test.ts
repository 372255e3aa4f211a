import { expect } from "chai";
import fc from "fast-check";
import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { reconnecting, reconnectingWhileServing, renewing } from "@svc-gateway/proxy/source/backoff.ts";

describe("waits of the discovery client", () => {
  const longest = (failures: number, backoff: Backoff): number => backoffMs(backoff, failures, () => 1);

  it("reconnecting waits double from 250 ms to 30 seconds, or to 5 while something is served", () => {
    const lengths = (backoff: Backoff): readonly number[] =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000].map((failures) => longest(failures, backoff));
    expect(lengths(reconnecting)).to.deep.equal([
      250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000,
    ]);
    expect(lengths(reconnectingWhileServing)).to.deep.equal([
      250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000,
    ]);
  });

  it("reconnecting waits are scattered over their whole length", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failures, random) => {
          const delay = backoffMs(reconnecting, failures, () => random);
          expect(delay).to.be.within(0, longest(failures, reconnecting));
        },
      ),
    );
  });

  it("renewing waits stay between 5 seconds and 5 minutes", () => {
    expect(backoffMs(renewing, 1, () => 0.5)).to.equal(5_000);
    expect(backoffMs(renewing, 2, () => 1)).to.equal(10_000);
    expect(backoffMs(renewing, 50, () => 0)).to.equal(5_000);
    expect(backoffMs(renewing, 50, () => 1)).to.equal(300_000);
  });
});
