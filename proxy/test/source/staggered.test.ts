import { expect } from "chai";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { firstSuccess, type Attempt } from "@svc-gateway/proxy/source/staggered.ts";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";

type Controlled = {
  readonly attempt: Attempt<string, string>;
  settle(result: Result<string, string>): void;
  isStarted(): boolean;
  isAborted(): boolean;
};

function controlled(): Controlled {
  const { promise, resolve } = Promise.withResolvers<Result<string, string>>();
  let signal: AbortSignal | undefined;
  return {
    attempt: (given) => {
      signal = given;
      return promise;
    },
    settle: resolve,
    isStarted: () => signal !== undefined,
    isAborted: () => signal?.aborted === true,
  };
}

describe("staggered attempts", () => {
  let clock: ManualClock;
  let discarded: string[];
  let abort: AbortController;
  let add: ((attempts: readonly Attempt<string, string>[]) => void) | undefined;
  beforeEach(() => {
    clock = createManualClock();
    discarded = [];
    abort = new AbortController();
  });
  const race = (attempts: readonly Controlled[]): Promise<Result<string, readonly string[]>> =>
    firstSuccess(
      attempts.map(({ attempt }) => attempt),
      {
        staggerMs: 250,
        clock,
        signal: abort.signal,
        discard: (value) => discarded.push(value),
        lateAttempts: (given) => {
          add = given;
          return () => (add = undefined);
        },
      },
    );
  const started = (attempts: readonly Controlled[]): readonly boolean[] =>
    attempts.map((one) => one.isStarted());

  it("the next attempt starts when one has failed", async () => {
    const attempts = [controlled(), controlled()];
    const result = race(attempts);
    expect(started(attempts)).to.deep.equal([true, false]);
    attempts[0]?.settle(fail("refused"));
    await clock.advance(0);
    expect(started(attempts)).to.deep.equal([true, true]);
    attempts[1]?.settle(ok("second"));
    expect(await result).to.deep.equal(ok("second"));
    expect(clock.pending()).to.equal(0);
  });

  it("the next attempt starts after the delay, and the first continues", async () => {
    const attempts = [controlled(), controlled(), controlled()];
    const result = race(attempts);
    await clock.advance(249);
    expect(started(attempts)).to.deep.equal([true, false, false]);
    await clock.advance(1);
    expect(started(attempts)).to.deep.equal([true, true, false]);
    attempts[0]?.settle(ok("first"));
    expect(await result).to.deep.equal(ok("first"));
    expect(attempts[1]?.isAborted()).to.equal(true);
    expect(started(attempts)).to.deep.equal([true, true, false]);
  });

  it("a late success is discarded", async () => {
    const attempts = [controlled(), controlled()];
    const result = race(attempts);
    await clock.advance(250);
    attempts[1]?.settle(ok("second"));
    await result;
    attempts[0]?.settle(ok("first"));
    await clock.advance(0);
    expect(discarded).to.deep.equal(["first"]);
  });

  it("the failures are returned in the order of the attempts", async () => {
    const attempts = [controlled(), controlled()];
    const result = race(attempts);
    await clock.advance(250);
    attempts[1]?.settle(fail("b"));
    attempts[0]?.settle(fail("a"));
    expect(await result).to.deep.equal(fail(["a", "b"]));
  });

  it("an attempt that is added starts at once, before those that have not started", async () => {
    const attempts = [controlled(), controlled()];
    const late = controlled();
    const result = race(attempts);
    add?.([late.attempt]);
    expect(started([...attempts, late])).to.deep.equal([true, false, true]);
    late.settle(ok("late"));
    expect(await result).to.deep.equal(ok("late"));
    expect(attempts[0]?.isAborted()).to.equal(true);
    expect(add, "the listener for late attempts").to.equal(undefined);
  });

  it("an added attempt is awaited before the race fails", async () => {
    const [first, late] = [controlled(), controlled()];
    const result = race([first]);
    add?.([late.attempt]);
    first.settle(fail("swallowed"));
    await clock.advance(0);
    late.settle(fail("refused"));
    expect(await result).to.deep.equal(fail(["swallowed", "refused"]));
  });

  it("the number of attempts is limited to 32", async () => {
    const attempts = [...Array(40)].map(controlled);
    const result = race(attempts.slice(0, 31));
    add?.(attempts.slice(31).map(({ attempt }) => attempt));
    for (const one of attempts) one.settle(fail("no"));
    await clock.advance(0);
    expect(await result).to.deep.equal(fail(Array(32).fill("no")));
    expect(started(attempts).filter(Boolean)).to.have.length(32);
  });

  it("a race without attempts fails, and an abort reaches running attempts", async () => {
    expect(await race([])).to.deep.equal(fail([]));
    const attempts = [controlled()];
    void race(attempts);
    abort.abort();
    expect(attempts[0]?.isAborted()).to.equal(true);
  });
});
