import { expect } from "chai";
import fc from "fast-check";
import { formatDuration, maxDurationMs, parseDuration } from "../../src/values/duration.ts";

const valueOf = (text: string): number | undefined => {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.value : undefined;
};

describe("parseDuration", () => {
  const accepted: readonly (readonly [string, number])[] = [
    ["15s", 15_000],
    ["1m30s", 90_000],
    ["1h", 3_600_000],
    ["250ms", 250],
    ["100us", 0.1],
    ["1ns", 0.000001],
    ["1.5s", 1500],
    [".5s", 500],
    ["1.s", 1000],
    ["0.1s", 100],
    ["1.0000001ms", 1],
    ["0", 0],
    ["0s", 0],
    ["0h0m", 0],
    ["30s1m", 90_000],
    [" 5s ", 5000],
    ["24h", maxDurationMs],
    ["0.7s0.1s", 800],
  ];
  for (const [text, milliseconds] of accepted) {
    it(`parseDuration reads "${text}" as ${milliseconds} ms`, () =>
      expect(valueOf(text)).to.equal(milliseconds));
  }

  const refused = [
    "",
    " ",
    "5",
    "s",
    "1d",
    "5 s",
    "1m 30s",
    "-1s",
    "+1s",
    "1e3s",
    "5S",
    "5µs",
    ".s",
    "1.2.3s",
    "abc",
    "00",
    "24h1ns",
    "1,5s",
  ];
  for (const text of refused) {
    it(`parseDuration rejects "${text}"`, () => expect(parseDuration(text).ok).to.equal(false));
  }

  it("parseDuration may have another upper bound", () => {
    expect(parseDuration("168h", 7 * maxDurationMs)).to.deep.equal({ ok: true, value: 7 * maxDurationMs });
  });

  it("parseDuration says what it expected, without repeating a huge value", () => {
    const parsed = parseDuration("x".repeat(1_000_000));
    expect(parsed.ok).to.equal(false);
    if (!parsed.ok)
      expect(`${parsed.error.message} ${parsed.error.expected}`).to.match(/1m30s/).and.have.length.below(300);
  });

  it("parseDuration reads back what formatDuration writes, to the nanosecond", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxDurationMs * 1e6 }), (nanoseconds) => {
        const milliseconds = nanoseconds / 1e6;
        expect(valueOf(formatDuration(milliseconds))).to.equal(milliseconds);
      }),
    );
  });

  it("parseDuration gives a number in range or a problem for every text", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9.nusmh]{0,12}$/), (text) => {
        const value = valueOf(text);
        expect(value === undefined || (value >= 0 && value <= maxDurationMs)).to.equal(true);
      }),
    );
  });
});

describe("formatDuration", () => {
  it("formatDuration writes the shortest exact form", () => {
    expect([0, 90_000, 1500, 0.1, 86_400_000].map(formatDuration)).to.deep.equal([
      "0s",
      "1m30s",
      "1s500ms",
      "100us",
      "24h",
    ]);
  });
});
