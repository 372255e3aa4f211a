import { expect } from "chai";
import { AwakeClock } from "../../src/timing/awake-clock.ts";

describe("AwakeClock", () => {
  let realMs = 0;
  let clock: AwakeClock;
  let unwatch: () => void;
  beforeEach(() => {
    realMs = 1000;
    clock = new AwakeClock(() => realMs);
    unwatch = clock.watch();
  });
  afterEach(() => unwatch());

  const pass = (ms: number): void => {
    realMs += ms;
    clock.look();
  };

  it("runs like the real clock while it is looked at in time, or a little late", () => {
    for (const ms of [500, 500, 1000, 20, 999]) pass(ms);
    expect(clock.nowMs).to.equal(realMs);
    expect(clock.lostMs).to.equal(0);
  });

  it("stands still during a pause, but for the time between two looks", () => {
    pass(500);
    const before = clock.nowMs;
    pass(120_000);
    expect(clock.nowMs - before).to.equal(500);
    expect(clock.lostMs).to.equal(119_500);
    pass(300);
    expect(clock.nowMs - before).to.equal(800);
    expect(clock.at(realMs)).to.equal(clock.nowMs);
  });

  it("adds pauses up", () => {
    pass(10_500);
    pass(20_500);
    expect(clock.lostMs).to.equal(30_000);
  });

  it("takes no time for a pause in which nobody watched", () => {
    unwatch();
    pass(120_000);
    expect(clock.lostMs).to.equal(0);
    unwatch = clock.watch();
    pass(500);
    expect(clock.lostMs).to.equal(0);
  });

  it("is watched by others when one of them says twice that it has ended", () => {
    const other = clock.watch();
    other();
    other();
    pass(120_000);
    expect(clock.lostMs).to.equal(119_500);
  });
});
