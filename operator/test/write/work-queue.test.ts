import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import fc from "fast-check";
import { createWorkQueue, type WorkQueueOptions } from "../../src/write/work-queue.ts";
import { createTestClock, settle } from "../support/test-clock.ts";

const rethrow = (error: unknown): void => {
  throw error;
};

/** A queue whose work ends when the test says so. */
function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = createTestClock();
  const abort = new AbortController();
  const started: { readonly key: string; readonly atMs: number }[] = [];
  const open: { readonly key: string; readonly finish: (result: Result<unknown, unknown>) => void }[] = [];
  const queue = createWorkQueue({
    process(key) {
      started.push({ key, atMs: clock.nowMs() });
      return new Promise((resolve) => open.push({ key, finish: resolve }));
    },
    concurrency: 2,
    rate: { perSecond: 1000, burst: 1000 },
    backoff: { firstMs: 100, maxMs: 1000 },
    signal: abort.signal,
    onBug: rethrow,
    clock,
    ...options,
  });
  return {
    clock,
    abort,
    queue,
    startedKeys: () => started.map(({ key }) => key),
    startedAt: () => started.map(({ atMs }) => atMs),
    async finish(result: Result<unknown, unknown> = ok(undefined)) {
      open.shift()?.finish(result);
      await settle();
    },
  };
}

describe("createWorkQueue", () => {
  it("processes each key once, however often it was added", async () => {
    const { queue, startedKeys, finish } = setUp();
    for (const key of ["a", "b", "c", "c", "c"]) queue.add(key);
    expect(startedKeys()).to.deep.equal(["a", "b"]);
    await finish();
    await finish();
    await finish();
    await queue.idle();
    expect(startedKeys()).to.deep.equal(["a", "b", "c"]);
    expect(queue.size).to.equal(0);
  });

  it("has no more keys in work than allowed", async () => {
    const { queue, startedKeys, finish } = setUp({ concurrency: 1 });
    queue.add("a");
    queue.add("b");
    expect(startedKeys()).to.deep.equal(["a"]);
    await finish();
    expect(startedKeys()).to.deep.equal(["a", "b"]);
  });

  it("processes a key again, and only once, when it was added while in work", async () => {
    const { queue, startedKeys, finish } = setUp();
    queue.add("a");
    queue.add("a");
    queue.add("a");
    expect(startedKeys(), "never twice at a time").to.deep.equal(["a"]);
    await finish();
    expect(startedKeys()).to.deep.equal(["a", "a"]);
    await finish();
    await queue.idle();
    expect(startedKeys()).to.have.length(2);
  });

  it("waits twice as long after each failure of a key, up to the longest wait", async () => {
    const { queue, clock, startedAt, finish } = setUp();
    queue.add("a");
    for (let failure = 0; failure < 6; failure++) {
      await finish(problem("no"));
      await clock.advance(1000);
    }
    const waits = startedAt().map((atMs, index, all) => atMs - (all[index - 1] ?? 0));
    expect(startedAt()).to.deep.equal([0, 100, 1200, 2400, 3800, 5000, 6000]);
    expect(waits.at(-1)).to.equal(1000);
  });

  it("forgets failures after a success", async () => {
    const { queue, clock, startedAt, finish } = setUp();
    queue.add("a");
    await finish(problem("no"));
    await clock.advance(100);
    await finish(problem("no"));
    await clock.advance(200);
    await finish();
    expect(queue.size).to.equal(0);
    queue.add("a");
    await finish(problem("no"));
    await clock.advance(100);
    expect(startedAt()).to.deep.equal([0, 100, 300, 300, 400]);
  });

  it("forgets failures after a success, also when the key was added again meanwhile", async () => {
    const { queue, clock, startedAt, finish } = setUp();
    queue.add("a");
    await finish(problem("no"));
    await clock.advance(100);
    queue.add("a");
    await finish();
    await finish(problem("no"));
    await clock.advance(100);
    expect(startedAt()).to.deep.equal([0, 100, 100, 200]);
  });

  it("ends a wait when the key is added, without forgetting the failures", async () => {
    const { queue, clock, startedAt, finish } = setUp();
    queue.add("a");
    await finish(problem("no"));
    await clock.advance(10);
    queue.add("a");
    await finish(problem("no"));
    await clock.advance(199);
    expect(startedAt()).to.deep.equal([0, 10]);
    await clock.advance(1);
    expect(startedAt()).to.deep.equal([0, 10, 210]);
  });

  it("starts no faster than the rate once the burst is used up", async () => {
    const starts: number[] = [];
    const clock = createTestClock();
    const queue = createWorkQueue({
      process: () => {
        starts.push(clock.nowMs());
        return Promise.resolve(ok(undefined));
      },
      concurrency: 10,
      rate: { perSecond: 10, burst: 3 },
      backoff: { firstMs: 1, maxMs: 1 },
      signal: new AbortController().signal,
      onBug: rethrow,
      clock,
    });
    for (let key = 0; key < 6; key++) queue.add(String(key));
    await clock.advance(1000);
    expect(starts).to.deep.equal([0, 0, 0, 100, 200, 300]);
  });

  it("reports work that throws as a bug and tries it again", async () => {
    const bugs: unknown[] = [];
    let calls = 0;
    const { queue, clock } = setUp({
      process: () => {
        calls++;
        if (calls === 1) throw new Error("first");
        return Promise.resolve(ok(undefined));
      },
      onBug: (error) => bugs.push(error),
    });
    queue.add("a");
    await clock.advance(100);
    await queue.idle();
    expect(calls).to.equal(2);
    expect(bugs.map(String)).to.deep.equal(["Error: first"]);
  });

  it("drops what waits when the signal aborts, and takes nothing more", async () => {
    const { queue, clock, abort, startedKeys, finish } = setUp({ concurrency: 1 });
    queue.add("a");
    queue.add("b");
    abort.abort();
    await queue.idle();
    queue.add("c");
    await finish(problem("aborted"));
    await clock.advance(10_000);
    expect(startedKeys()).to.deep.equal(["a"]);
    expect(queue.size).to.equal(0);
  });

  it("always processes the last state of a key, and never one key twice at a time", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom("a", "b", "c"), gapMs: fc.nat({ max: 30 }) }), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        async (additions, concurrency, outcomes) => {
          const clock = createTestClock();
          const inWork = new Set<string>();
          const wanted = new Map<string, number>();
          const seen = new Map<string, number>();
          let calls = 0;
          const queue = createWorkQueue({
            process: async (key) => {
              expect(inWork.has(key)).to.equal(false);
              inWork.add(key);
              expect(inWork.size).to.be.at.most(concurrency);
              const state = wanted.get(key) ?? 0;
              await new Promise<void>((resolve) => void clock.schedule(15, resolve));
              inWork.delete(key);
              const isDone = calls >= outcomes.length || outcomes[calls] === true;
              calls++;
              if (isDone) seen.set(key, state);
              return isDone ? ok(undefined) : problem("no");
            },
            concurrency,
            rate: { perSecond: 200, burst: 5 },
            backoff: { firstMs: 10, maxMs: 50 },
            signal: new AbortController().signal,
            onBug: rethrow,
            clock,
          });
          for (const { key, gapMs } of additions) {
            await clock.advance(gapMs);
            wanted.set(key, (wanted.get(key) ?? 0) + 1);
            queue.add(key);
          }
          await clock.advance(60_000);
          expect(Object.fromEntries(seen)).to.deep.equal(Object.fromEntries(wanted));
          expect(queue.size).to.equal(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});
