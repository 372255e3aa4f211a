import { expect } from "chai";
import { sleep, systemClock } from "@svc-gateway/common/time/clock.ts";
import { createManualClock } from "./manual-clock.ts";

describe("sleep", () => {
  it("sleep resolves true after the delay and not before", async () => {
    const clock = createManualClock();
    let result: boolean | undefined;
    void sleep(clock, 100, new AbortController().signal).then((value) => (result = value));
    await clock.advance(99);
    expect(result).to.equal(undefined);
    await clock.advance(1);
    expect(result).to.equal(true);
  });

  it("sleep resolves false when the signal aborts, and leaves no timer", async () => {
    const clock = createManualClock();
    const abort = new AbortController();
    const sleeping = sleep(clock, 100, abort.signal);
    abort.abort();
    expect(await sleeping).to.equal(false);
    expect(clock.pending()).to.equal(0);
    expect(await sleep(clock, 100, abort.signal)).to.equal(false);
  });
});

describe("the machine's clock", () => {
  it("a delay beyond the limit of Node's timers does not fire at once", async () => {
    let hasFired = false;
    const cancel = systemClock.schedule(2 ** 40, () => (hasFired = true));
    await new Promise((resolve) => systemClock.schedule(5, () => resolve(undefined)));
    cancel();
    expect(hasFired).to.equal(false);
  });
});
