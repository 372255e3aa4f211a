import { expect } from "chai";
import { rateLimit, rateLimitSchema } from "../../src/features/rate-limit.ts";

describe("rate-limit", () => {
  const { parse } = rateLimit.annotations.rateLimit;

  it("rate-limit: the annotation is a reference", () => {
    expect(parse("infra/slow", () => {})).to.deep.equal({
      ok: true,
      value: { namespace: "infra", name: "slow" },
    });
    expect(parse("slow", () => {}).ok).to.equal(false);
  });

  it("rate-limit: the rate in the snapshot must be positive", () => {
    expect(rateLimitSchema.safeParse({ requestsPerSecond: 0.5, burst: 0 }).success).to.equal(true);
    for (const requestsPerSecond of [0, -1, Number.POSITIVE_INFINITY]) {
      expect(rateLimitSchema.safeParse({ requestsPerSecond, burst: 0 }).success).to.equal(false);
    }
  });
});
