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

  it("the awake clock runs like the real clock while it is observed in time, or a little late", () => {
    for (const ms of [500, 500, 1000, 20, 999]) pass(ms);
    expect(clock.nowMs).to.equal(realMs);
    expect(clock.lostMs).to.equal(0);
  });

  it("the awake clock stops during a pause, except for the time between two observations", () => {
    pass(500);
    const before = clock.nowMs;
    pass(120_000);
    expect(clock.nowMs - before).to.equal(500);
    expect(clock.lostMs).to.equal(119_500);
    pass(300);
    expect(clock.nowMs - before).to.equal(800);
    expect(clock.at(realMs)).to.equal(clock.nowMs);
  });

  it("the awake clock adds up several pauses", () => {
    pass(10_500);
    pass(20_500);
    expect(clock.lostMs).to.equal(30_000);
  });

  it("the awake clock takes no time for a pause while it is not watched", () => {
    unwatch();
    pass(120_000);
    expect(clock.lostMs).to.equal(0);
    unwatch = clock.watch();
    pass(500);
    expect(clock.lostMs).to.equal(0);
  });

  it("the awake clock stays watched when one of two watchers ends twice", () => {
    const other = clock.watch();
    other();
    other();
    pass(120_000);
    expect(clock.lostMs).to.equal(119_500);
  });
});
