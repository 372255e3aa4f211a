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
    type Values = Parameters<typeof timeouts.fromAnnotations>[0];
    const limits = (own: Partial<Values> = {}) => {
      const values: Values = {
        readTimeout: undefined,
        sendTimeout: undefined,
        readGap: undefined,
        sendGap: undefined,
        connect: undefined,
        connectStatus: undefined,
        ...own,
      };
      return timeouts.fromAnnotations(values, () => values);
    };
    expect(limits({ readTimeout: 1, sendTimeout: 2 })).to.deep.equal({ readTimeoutMs: 1, sendTimeoutMs: 2 });
    expect(limits({ readGap: 3, sendGap: 4 })).to.deep.equal({ readGapMs: 3, sendGapMs: 4 });
    expect(limits({ connect: 5, connectStatus: 504 })).to.deep.equal({
      connectTimeoutMs: 5,
      connectTimeoutStatus: 504,
    });
    expect(limits({ connectStatus: 502 })).to.equal(undefined);
    expect(limits()).to.equal(undefined);
  });
});
