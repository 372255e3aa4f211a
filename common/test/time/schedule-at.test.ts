import { expect } from "chai";
import { scheduleAt } from "@svc-gateway/common/time/schedule-at.ts";
import { createManualClock } from "./manual-clock.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe("scheduleAt", () => {
  const start = () => {
    const clock = createManualClock();
    let calls = 0;
    const cancel = scheduleAt(clock, clock.nowMs() + 12 * hourMs, () => calls++);
    return { clock, cancel, calls: () => calls };
  };

  it("scheduleAt calls back once, at the time", async () => {
    const { clock, calls } = start();
    await clock.advance(12 * hourMs - 1);
    expect(calls()).to.equal(0);
    await clock.advance(1);
    expect(calls()).to.equal(1);
    await clock.advance(24 * hourMs);
    expect([calls(), clock.pending()]).to.deep.equal([1, 0]);
  });

  for (const hours of [13, 24]) {
    it(`scheduleAt calls back within a minute after the clock was set forward by ${hours} hours`, async () => {
      const { clock, calls } = start();
      await clock.advance(minuteMs / 2);
      clock.step(hours * hourMs);
      await clock.advance(minuteMs);
      expect(calls()).to.equal(1);
    });
  }

  it("scheduleAt calls back when the clock shows the time for the second time after it was set back", async () => {
    const { clock, calls } = start();
    await clock.advance(12 * hourMs - 1);
    clock.step(-hourMs);
    await clock.advance(hourMs);
    expect(calls()).to.equal(0);
    await clock.advance(1);
    expect(calls()).to.equal(1);
  });

  it("scheduleAt calls back at once when the time is over, and never after it was cancelled", async () => {
    const clock = createManualClock();
    let calls = 0;
    scheduleAt(clock, clock.nowMs() - hourMs, () => calls++);
    await clock.advance(0);
    expect(calls).to.equal(1);
    const { cancel, calls: others, clock: other } = start();
    await other.advance(hourMs);
    cancel();
    await other.advance(24 * hourMs);
    expect([others(), other.pending()]).to.deep.equal([0, 0]);
  });
});
