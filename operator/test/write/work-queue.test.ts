import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import fc from "fast-check";
import { createWorkQueue, type WorkQueueOptions } from "../../src/write/work-queue.ts";
import { createTestClock, settle } from "../support/test-clock.ts";

const rethrow = (error: unknown): void => {
  throw error;
};

/** A queue whose work ends when the test finishes it. */
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
  it("each key is processed once, regardless of how often it was added", async () => {
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

  it("the number of keys in work is limited", async () => {
    const { queue, startedKeys, finish } = setUp({ concurrency: 1 });
    queue.add("a");
    queue.add("b");
    expect(startedKeys()).to.deep.equal(["a"]);
    await finish();
    expect(startedKeys()).to.deep.equal(["a", "b"]);
  });

  it("a key that is added while in work is processed once more", async () => {
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

  it("the wait after a failure doubles up to the longest wait", async () => {
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

  it("a success resets the failures of a key", async () => {
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

  it("a success resets the failures of a key, even if the key was added meanwhile", async () => {
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

  it("an added key ends its wait without resetting its failures", async () => {
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

  it("keys are started no faster than the rate once the burst is used up", async () => {
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

  it("a key whose work throws is reported as a bug and retried", async () => {
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

  it("waiting keys are dropped when the signal aborts, and no more are accepted", async () => {
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

  it("the last state of a key is always processed, and no key is in work twice at a time", async () => {
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
