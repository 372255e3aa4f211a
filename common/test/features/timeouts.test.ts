import { expect } from "chai";
import { parseTimeout, timeouts, timeoutsSchema } from "../../src/features/timeouts.ts";

describe("timeouts", () => {
  for (const [text, ms] of [
    ["30s", 30_000],
    ["1m30s", 90_000],
    ["1.5s", 1500],
    ["100us", 0.1],
    ["24h", 86_400_000],
  ] as const) {
    it(`timeouts: ${text} is read as a limit`, () => {
      expect(parseTimeout(text)).to.deep.equal({ ok: true, value: ms });
      expect(timeoutsSchema.parse({ readTimeoutMs: ms })).to.deep.equal({ readTimeoutMs: ms });
    });
  }

  for (const text of ["0", "0s", "0h0m"]) {
    it(`timeouts: ${text} counts as absent`, () =>
      expect(parseTimeout(text)).to.deep.equal({ ok: true, value: undefined }));
  }

  for (const text of ["30", "-1s", "1 s", "24h1s", "1d", "s"]) {
    it(`timeouts: rejects ${JSON.stringify(text)}`, () => expect(parseTimeout(text).ok).to.equal(false));
  }

  it("timeouts: the feature has the limits that annotations set, and is off without any", () => {
    const limits = (readTimeout?: number, sendTimeout?: number) => {
      const values = { readTimeout, sendTimeout };
      return timeouts.fromAnnotations(values, () => values);
    };
    expect(limits(1, 2)).to.deep.equal({ readTimeoutMs: 1, sendTimeoutMs: 2 });
    expect(limits(undefined, 2)).to.deep.equal({ sendTimeoutMs: 2 });
    expect(limits()).to.equal(undefined);
  });
});
