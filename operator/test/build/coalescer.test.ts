import { expect } from "chai";
import fc from "fast-check";
import { createCoalescer } from "../../src/build/coalescer.ts";
import { createTestClock } from "../support/test-clock.ts";

const rethrow = (error: unknown): void => {
  throw error;
};

describe("createCoalescer", () => {
  it("the first change is built without waiting for the interval", async () => {
    const clock = createTestClock();
    const starts: number[] = [];
    const coalescer = createCoalescer({
      build: () => void starts.push(clock.nowMs()),
      minIntervalMs: 20,
      onBug: rethrow,
      clock,
    });
    coalescer.markDirty();
    expect(starts, "never inside markDirty").to.deep.equal([]);
    await clock.advance(0);
    expect(starts).to.deep.equal([0]);
    await clock.advance(100);
    coalescer.markDirty();
    await clock.advance(0);
    expect(starts).to.deep.equal([0, 100]);
  });

  it("two builds start at least the interval apart while changes keep coming", async () => {
    const clock = createTestClock();
    const starts: number[] = [];
    const coalescer = createCoalescer({
      build: () => void starts.push(clock.nowMs()),
      minIntervalMs: 20,
      onBug: rethrow,
      clock,
    });
    for (let ms = 0; ms < 99; ms++) {
      coalescer.markDirty();
      await clock.advance(1);
    }
    expect(starts).to.deep.equal([0, 20, 40, 60, 80]);
    await clock.advance(20);
    expect(starts, "the last change is built, too").to.deep.equal([0, 20, 40, 60, 80, 100]);
    await clock.advance(1000);
    expect(starts, "and nothing after it").to.have.length(6);
  });

  it("one build runs at a time, followed by one more for all changes during it", async () => {
    const clock = createTestClock();
    const finish: (() => void)[] = [];
    let running = 0;
    const coalescer = createCoalescer({
      build: async () => {
        running++;
        expect(running).to.equal(1);
        await new Promise<void>((resolve) => finish.push(resolve));
        running--;
      },
      minIntervalMs: 20,
      onBug: rethrow,
      clock,
    });
    coalescer.markDirty();
    await clock.advance(0);
    for (let change = 0; change < 10; change++) coalescer.markDirty();
    await clock.advance(500);
    expect(finish, "the second build waits for the first").to.have.length(1);
    finish[0]?.();
    await clock.advance(0);
    expect(finish).to.have.length(2);
    finish[1]?.();
    await clock.advance(500);
    expect(finish).to.have.length(2);
  });

  it("a build that throws is reported, and the next change is built", async () => {
    const clock = createTestClock();
    const bugs: unknown[] = [];
    let builds = 0;
    const coalescer = createCoalescer({
      build: () => {
        builds++;
        if (builds === 1) throw new Error("first");
      },
      minIntervalMs: 20,
      onBug: (error) => bugs.push(error),
      clock,
    });
    coalescer.markDirty();
    await clock.advance(0);
    coalescer.markDirty();
    await clock.advance(20);
    expect(builds).to.equal(2);
    expect(bugs.map(String)).to.deep.equal(["Error: first"]);
  });

  it("the coalescer is idle only when no build runs or waits", async () => {
    const clock = createTestClock();
    let builds = 0;
    const coalescer = createCoalescer({
      build: () => void builds++,
      minIntervalMs: 20,
      onBug: rethrow,
      clock,
    });
    await coalescer.idle();
    coalescer.markDirty();
    await clock.advance(0);
    coalescer.markDirty();
    let seen = 0;
    const idle = coalescer.idle().then(() => (seen = builds));
    await clock.advance(20);
    await idle;
    expect(seen).to.equal(2);
  });

  it("no build starts after stop, which waits for the running build", async () => {
    const clock = createTestClock();
    let finish = (): void => undefined;
    let builds = 0;
    const coalescer = createCoalescer({
      build: () => {
        builds++;
        return new Promise<void>((resolve) => (finish = resolve));
      },
      minIntervalMs: 20,
      onBug: rethrow,
      clock,
    });
    coalescer.markDirty();
    await clock.advance(0);
    coalescer.markDirty();
    let isStopped = false;
    const stopped = coalescer.stop().then(() => (isStopped = true));
    await clock.advance(100);
    expect(isStopped).to.equal(false);
    finish();
    await stopped;
    coalescer.markDirty();
    await clock.advance(100);
    expect(builds).to.equal(1);
  });

  it("every change is built within one running build and one interval, and builds are never closer together", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat({ max: 40 }),
        async (gaps, minIntervalMs, buildMs) => {
          const clock = createTestClock();
          const builds: { readonly startMs: number; readonly seen: number }[] = [];
          let changes = 0;
          const coalescer = createCoalescer({
            build: () => {
              builds.push({ startMs: clock.nowMs(), seen: changes });
              return new Promise<void>((resolve) => void clock.schedule(buildMs, resolve));
            },
            minIntervalMs,
            onBug: rethrow,
            clock,
          });
          const changedAt: number[] = [];
          for (const gap of gaps) {
            await clock.advance(gap);
            changes++;
            changedAt.push(clock.nowMs());
            coalescer.markDirty();
          }
          await clock.advance(1000);
          for (const [index, { startMs }] of builds.entries()) {
            const next = builds[index + 1];
            if (next !== undefined)
              expect(next.startMs - startMs).to.be.at.least(Math.max(minIntervalMs, buildMs));
          }
          for (const [index, atMs] of changedAt.entries()) {
            const built = builds.find(({ seen }) => seen > index);
            expect(built?.startMs).to.be.a("number");
            expect((built?.startMs ?? 0) - atMs).to.be.at.most(minIntervalMs + buildMs);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
