import { expect } from "chai";
import { announcedIdleMs } from "../../../src/upstream/h1/announced-idle.ts";

describe("announcedIdleMs", () => {
  for (const [field, ms] of [
    ["timeout=5", 4_000],
    ["timeout=5, max=100", 4_000],
    ["max=100,timeout=60", 59_000],
    ["Timeout = 15", 14_000],
    ['timeout="20"', 19_000],
    ["timeout=2", 1_000],
    ["timeout=1", 500],
    ["timeout=0", 0],
    ["timeout=5, max=0", 0],
    ["max=0", 0],
    ["timeout=99999999999999999999", 86_399_000],
    ["max=100", undefined],
    ["timeout=", undefined],
    ["timeout=-1", undefined],
    ["x-timeout=5", undefined],
    ["", undefined],
  ] as const) {
    it(`the field "Keep-Alive: ${field}" announces an idle time of ${ms} ms`, () => {
      expect(announcedIdleMs(field)).to.equal(ms);
    });
  }
});
