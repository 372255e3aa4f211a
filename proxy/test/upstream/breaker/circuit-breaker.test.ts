import { expect } from "chai";
import fc from "fast-check";
import type { CircuitBreaker as Settings } from "@svc-gateway/common/features/backend-policy.ts";
import { CircuitBreaker, type Passage } from "../../../src/upstream/breaker/circuit-breaker.ts";
import { breakerKey, BreakerTable, breakerTableBytes } from "../../../src/upstream/breaker/breaker-table.ts";
import { BreakerModel } from "./model.ts";

const settings = fc
  .record({
    threshold: fc.integer({ min: 1, max: 100 }),
    windowMs: fc.constantFrom(80, 100, 1_000, 10_000),
    minRequests: fc.integer({ min: 1, max: 6 }),
    openMs: fc.constantFrom(1, 50, 5_000),
    factor: fc.constantFrom(1, 3, 64),
  })
  .map(({ factor, ...rest }): Settings => ({ ...rest, maxOpenMs: rest.openMs * factor }));

const verdict = fc.constantFrom("succeeded", "failed", "failed", "failedLate", "none");

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("admit"), worker: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("report"), which: fc.nat(), worker: fc.nat(2), verdict }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("wait"),
      ms: fc.oneof(fc.nat(60), fc.nat(20_000), fc.nat(400_000)),
    }),
  },
);

/** Three workers with one memory, each with its own idea of nothing. */
function workersOf(given: Settings) {
  const memory = new SharedArrayBuffer(breakerTableBytes);
  const transitions: string[] = [];
  const workers = [0, 1, 2].map(() => {
    const slot = new BreakerTable(memory).slotOf(breakerKey("route", "10.0.0.1:80"), 0);
    if (slot === undefined) throw new Error("an empty table has no room");
    return new CircuitBreaker(slot, given, (to) => transitions.push(to));
  });
  return { workers: workers as [CircuitBreaker, CircuitBreaker, CircuitBreaker], transitions };
}

describe("CircuitBreaker", () => {
  // Times near the wrap of 32 bits and of the sign are as good as others.
  for (const startMs of [0, 2 ** 31 - 30_000, 2 ** 32 - 30_000]) {
    it(`the circuit breaker behaves like its model, in any worker, from ${startMs} ms on`, () => {
      fc.assert(
        fc.property(settings, fc.array(step, { maxLength: 120 }), (given, steps) => {
          const { workers, transitions } = workersOf(given);
          const model = new BreakerModel(given);
          const open: { passage: Passage; request: NonNullable<ReturnType<BreakerModel["admit"]>> }[] = [];
          let nowMs = startMs;
          let changes = 0;
          for (const one of steps) {
            const before = model.state;
            if (one.type === "wait") {
              nowMs += "ms" in one ? one.ms : 0;
            } else if (one.type === "admit" && "worker" in one) {
              const request = model.admit(nowMs);
              const breaker = workers[one.worker] as CircuitBreaker;
              expect(breaker.mayAdmit(nowMs)).to.equal(request !== undefined);
              const passage = breaker.admit(nowMs);
              expect(passage?.isProbe).to.equal(request?.isProbe);
              if (request !== undefined && passage !== undefined) open.push({ passage, request });
            } else if ("which" in one && open.length > 0) {
              const [ended] = open.splice(one.which % open.length, 1);
              if (ended === undefined) continue;
              const breaker = workers[one.worker] as CircuitBreaker;
              model.report(ended.request, one.verdict as "none", nowMs);
              if (one.verdict === "none") breaker.withdrawn(ended.passage);
              else breaker[one.verdict as "failed"](ended.passage, nowMs);
            }
            if (model.state !== before) {
              changes++;
              expect(transitions.at(-1)).to.equal(model.state);
            }
            for (const worker of workers) expect(worker.state).to.equal(model.state);
          }
          expect(transitions.length).to.equal(changes);
        }),
        { numRuns: 300 },
      );
    });
  }

  const plain: Settings = {
    threshold: 50,
    windowMs: 10_000,
    minRequests: 4,
    openMs: 1_000,
    maxOpenMs: 4_000,
  };
  const fail = (breaker: CircuitBreaker, nowMs: number): void => {
    const passage = breaker.admit(nowMs);
    if (passage === undefined) throw new Error("the breaker is open");
    breaker.failed(passage, nowMs);
  };

  it("the circuit breaker opens at the threshold, waits longer after each failed probe, and resets after a calm window", () => {
    const { workers, transitions } = workersOf(plain);
    const [breaker] = workers;
    for (let i = 0; i < 4; i++) fail(breaker, 0);
    expect(breaker.state).to.equal("open");
    let nowMs = 0;
    for (const openMs of [1_000, 2_000, 4_000, 4_000]) {
      expect(breaker.admit(nowMs + openMs - 1)).to.equal(undefined);
      nowMs += openMs;
      fail(breaker, nowMs);
      expect(breaker.state).to.equal("open");
    }
    nowMs += 4_000;
    const probe = breaker.admit(nowMs) as Passage;
    expect([probe.isProbe, breaker.state, breaker.admit(nowMs)]).to.deep.equal([
      true,
      "half_open",
      undefined,
    ]);
    breaker.succeeded(probe, nowMs);
    expect(breaker.state).to.equal("closed");
    nowMs += 10_000;
    for (let i = 0; i < 4; i++) fail(breaker, nowMs);
    expect([breaker.admit(nowMs + 999), breaker.admit(nowMs + 1_000)?.isProbe]).to.deep.equal([
      undefined,
      true,
    ]);
    expect(transitions.slice(0, 3)).to.deep.equal(["open", "half_open", "open"]);
  });

  it("the circuit breaker abandons a probe that has not reported for five minutes", () => {
    const { workers } = workersOf(plain);
    const [first, second] = workers;
    for (let i = 0; i < 4; i++) fail(first, 0);
    const lost = first.admit(1_000) as Passage;
    expect(second.admit(300_999)).to.equal(undefined);
    const probe = second.admit(301_000) as Passage;
    first.succeeded(lost, 301_001);
    expect(second.state).to.equal("half_open");
    second.succeeded(probe, 301_002);
    expect(first.state).to.equal("closed");
  });
});
