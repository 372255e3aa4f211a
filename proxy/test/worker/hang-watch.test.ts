import { expect } from "chai";
import { AwakeClock } from "../../src/timing/awake-clock.ts";
import { HangWatch, Heartbeat, heartbeatBytes } from "../../src/worker/hang-watch.ts";

describe("HangWatch", () => {
  let nowMs: number;
  let stop: () => void;
  let watch: HangWatch;
  let workers: readonly Heartbeat[];
  /** How long the threads have waited for a processor. */
  let waitedMs: number[];

  beforeEach(() => {
    nowMs = 1_000;
    const memory = new SharedArrayBuffer(heartbeatBytes(2));
    const clock = new AwakeClock(() => nowMs);
    stop = clock.watch();
    watch = new HangWatch(memory, { serving: 10_000, busy: 60_000 }, clock, (worker) => waitedMs[worker]);
    waitedMs = [];
    workers = [0, 1].map((worker) => new Heartbeat(memory, worker));
    for (const worker of [0, 1]) watch.started(worker);
  });

  afterEach(() => stop());

  /** Lets time pass in steps as the supervisor looks; `beating` workers turn meanwhile. */
  const pass = (ms: number, beating: readonly number[]): readonly number[] => {
    const hanging: number[] = [];
    for (const endMs = nowMs + ms; nowMs < endMs;) {
      nowMs += 500;
      for (const worker of beating) workers[worker]?.setBusy(workers[worker].isBusy);
      hanging.push(...watch.check().map(({ worker }) => worker));
    }
    return hanging;
  };

  it("a worker without heartbeat for its limit is reported once", () => {
    for (const worker of workers) worker.setBusy(false);
    expect(pass(9_500, [0])).to.deep.equal([]);
    expect(pass(1_000, [0])).to.deep.equal([1]);
    expect(pass(60_000, [0])).to.deep.equal([]);
  });

  it("a worker that starts or compiles a snapshot has a longer limit", () => {
    workers[1]?.setBusy(false);
    expect(pass(30_000, [1])).to.deep.equal([]);
    workers[0]?.setBusy(false);
    workers[1]?.whileBusy(() => expect(pass(59_000, [0])).to.deep.equal([]));
    expect(pass(9_500, [0])).to.deep.equal([]);
    expect(pass(1_000, [0])).to.deep.equal([1]);
  });

  it("a worker is busy until the work in slices that it does is over, also when that fails", async () => {
    const [worker] = workers;
    const slices = Promise.withResolvers<string>();
    const work = worker?.whileBusy(() => slices.promise);
    expect(worker?.isBusy).to.equal(true);
    slices.resolve("done");
    expect(await work).to.equal("done");
    await Promise.resolve();
    expect(worker?.isBusy).to.equal(false);
    const failed = worker?.whileBusy(() => Promise.reject(new Error("a bug")));
    await failed?.catch(() => undefined);
    await Promise.resolve();
    expect(worker?.isBusy).to.equal(false);
  });

  it("a pause of the whole process does not count as a hang", () => {
    for (const worker of workers) worker.setBusy(false);
    expect(pass(5_000, [0])).to.deep.equal([]);
    for (let pause = 0; pause < 20; pause++) {
      nowMs += 600_000;
      expect(watch.check()).to.deep.equal([]);
      expect(pass(500, [0, 1])).to.deep.equal([]);
    }
    // A pause that the clock notices only in part is not counted twice.
    nowMs += 8_000;
    expect(watch.check()).to.deep.equal([]);
    expect(pass(11_000, [0])).to.deep.equal([1]);
  });

  it("a worker that waits for a processor does not hang, unless that takes six times its limit", () => {
    workers[0]?.setBusy(false);
    waitedMs = [7_000, 0];
    // Worker 1 starts, and both have a tenth of a processor.
    const starve = (steps: number): readonly number[] =>
      Array.from({ length: steps }, () => {
        waitedMs = waitedMs.map((ms) => ms + 450);
        return pass(500, []);
      }).flat();
    expect(starve(110)).to.deep.equal([]);
    // Six limits are a hang all the same.
    expect(starve(90)).to.deep.equal([0]);
  });

  it("the report of a hung worker has its silence and what it was doing", () => {
    for (const worker of workers) worker.setBusy(false);
    workers[1]?.setBusy(true);
    pass(10_000, []);
    nowMs += 500;
    expect(watch.check()).to.deep.equal([{ worker: 0, silentMs: 10_000, isBusy: false }]);
  });

  it("an ended worker is not watched, and its successor starts from zero", () => {
    for (const worker of workers) worker.setBusy(false);
    watch.forget(1);
    expect(pass(20_000, [0])).to.deep.equal([]);
    watch.started(1);
    expect(pass(59_000, [0])).to.deep.equal([]);
    expect(pass(1_000, [0])).to.deep.equal([1]);
  });
});
