import { expect } from "chai";
import { ReadingPace } from "../../src/http/reading-pace.ts";

const timeoutMs = 60_000;
const quotaBytes = 7680;

describe("ReadingPace", () => {
  it("a client has the whole timeout to take anything", () => {
    const pace = new ReadingPace();
    expect(pace.isStalled(1, 0, timeoutMs)).to.equal(false);
    expect(pace.isStalled(timeoutMs, 0, timeoutMs)).to.equal(false);
    expect(pace.isStalled(timeoutMs + 1, 0, timeoutMs)).to.equal(true);
  });

  it("a client that takes less than 128 bytes per second makes no progress", () => {
    const pace = new ReadingPace();
    let taken = 0;
    for (let nowMs = 0; nowMs < timeoutMs; nowMs += 1000) {
      expect(pace.isStalled(nowMs, taken, timeoutMs)).to.equal(false);
      taken += 127;
    }
    expect(pace.isStalled(timeoutMs, taken, timeoutMs)).to.equal(true);
  });

  it("a client that takes 128 bytes per second can read for hours", () => {
    const pace = new ReadingPace();
    for (let second = 0; second < 10_000; second++) {
      expect(pace.isStalled(second * 1000, second * 128, timeoutMs)).to.equal(false);
    }
  });

  it("a burst counts once, and the timeout begins again after it", () => {
    const pace = new ReadingPace();
    pace.isStalled(0, 0, timeoutMs);
    expect(pace.isStalled(59_000, 100 * quotaBytes, timeoutMs)).to.equal(false);
    expect(pace.isStalled(118_999, 100 * quotaBytes, timeoutMs)).to.equal(false);
    expect(pace.isStalled(119_000, 100 * quotaBytes, timeoutMs)).to.equal(true);
  });

  it("time in which nothing waits does not count", () => {
    const pace = new ReadingPace();
    pace.isStalled(0, 0, timeoutMs);
    pace.rest();
    expect(pace.isStalled(10 * timeoutMs, 0, timeoutMs)).to.equal(false);
  });

  it("no client is stalled where the timeout is off", () => {
    const pace = new ReadingPace();
    for (const nowMs of [0, 1e6, 1e9]) expect(pace.isStalled(nowMs, 0, 0)).to.equal(false);
  });
});
