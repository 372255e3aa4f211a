import { expect } from "chai";
import { FloodGuard } from "../../../src/http/h2/node/flood-guard.ts";
import { floodWindowMs, maxControlFrames, maxResetStreams } from "../../../src/http2/flood-limits.ts";

const times = <T>(count: number, act: () => T): T | undefined => {
  let last: T | undefined;
  for (let i = 0; i < count; i++) last = act();
  return last;
};

describe("FloodGuard", () => {
  const open = (guard: FloodGuard, count: number, nowMs: number): void => {
    for (let i = 0; i < count; i++) guard.countOpened(nowMs);
  };

  it("FloodGuard detects more than 200 reset streams in ten seconds when they are more than half of those opened", () => {
    const guard = new FloodGuard(0);
    open(guard, 2 * maxResetStreams + 1, 1);
    expect(times(maxResetStreams, () => guard.countReset(1))).to.equal(undefined);
    expect(guard.countReset(1)).to.equal("reset-flood");
  });

  it("FloodGuard tolerates a client that resets half of many streams", () => {
    const guard = new FloodGuard(0);
    open(guard, 4000, 1);
    expect(times(2000, () => guard.countReset(1))).to.equal(undefined);
    expect(guard.countReset(1)).to.equal("reset-flood");
  });

  it("FloodGuard counts the streams of the last ten seconds, wherever they begin", () => {
    const guard = new FloodGuard(0);
    open(guard, maxResetStreams, 9_500);
    expect(times(maxResetStreams, () => guard.countReset(9_500))).to.equal(undefined);
    expect(guard.countReset(floodWindowMs + 500)).to.equal("reset-flood");
    expect(guard.countReset(9_500 + floodWindowMs)).to.equal(undefined);
  });

  it("FloodGuard detects the 1000th control frame of a window", () => {
    const guard = new FloodGuard(0);
    expect(times(maxControlFrames - 1, () => guard.countControl(1, 17))).to.equal(undefined);
    expect(guard.countControl(1, 17)).to.equal("control-flood");
    expect(guard.countControl(floodWindowMs, 17)).to.equal(undefined);
  });

  it("FloodGuard does not count control frames that answer data, up to a bound", () => {
    const guard = new FloodGuard(0);
    times(10 * maxControlFrames, () => guard.countSent(1));
    expect(times(2 * maxControlFrames - 1, () => guard.countControl(1, 17))).to.equal(undefined);
    expect(guard.countControl(1, 17)).to.equal("control-flood");
  });

  it("FloodGuard detects received bytes that no frame explains", () => {
    const guard = new FloodGuard(0);
    guard.explain(500);
    expect(guard.checkOverhead(1, 500 + 17 * maxControlFrames - 1, 0)).to.equal(undefined);
    expect(guard.checkOverhead(1, 500 + 17 * maxControlFrames, 0)).to.equal("control-flood");
  });

  it("FloodGuard adds unexplained bytes to the control frames that it counts", () => {
    const guard = new FloodGuard(0);
    times(maxControlFrames / 2, () => guard.countControl(1, 0));
    expect(guard.checkOverhead(1, (17 * maxControlFrames) / 2 - 1, 0)).to.equal(undefined);
    expect(guard.checkOverhead(1, (17 * maxControlFrames) / 2, 0)).to.equal("control-flood");
  });

  it("FloodGuard resets the count of unexplained bytes with every window", () => {
    const guard = new FloodGuard(0);
    const share = 17 * maxControlFrames - 1;
    let received = 0;
    for (let window = 1; window < 10; window++) {
      received += share;
      expect(guard.checkOverhead(window * floodWindowMs, received, 0)).to.equal(undefined);
    }
  });

  it("FloodGuard accepts an explanation of bytes before and after they arrive", () => {
    const early = new FloodGuard(0);
    early.explain(1_000_000);
    expect(early.checkOverhead(1, 0, 0)).to.equal(undefined);
    expect(early.checkOverhead(2, 1_000_000, 0)).to.equal(undefined);
    const late = new FloodGuard(0);
    expect(late.checkOverhead(1, 90_000, 300)).to.equal(undefined);
    late.explain(90_000);
    expect(late.checkOverhead(2, 90_000, 0)).to.equal(undefined);
  });

  it("FloodGuard bounds the bytes that are explained in advance", () => {
    const guard = new FloodGuard(0);
    guard.explain(1_000_000_000);
    expect(guard.checkOverhead(1, 0, 0)).to.equal(undefined);
    expect(guard.checkOverhead(2, 10_000_000, 0)).to.equal("control-flood");
  });
});
