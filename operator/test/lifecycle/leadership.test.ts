import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { createLeadership } from "../../src/lifecycle/leadership.ts";
import { createTestClock } from "../support/test-clock.ts";

function setUp() {
  const clock = createTestClock();
  const metrics = createMetricSet(controllerMetrics);
  const leadership = createLeadership({ metrics, log: silentLogger, clock });
  const changes: boolean[] = [];
  leadership.subscribe(() => changes.push(leadership.isLeading()));
  return { clock, metrics, leadership, changes };
}

describe("createLeadership", () => {
  it("a replica leads in one term while the lease is renewed in time", async () => {
    const { clock, leadership, changes } = setUp();
    expect(leadership.isLeading()).to.equal(false);
    expect(leadership.term()).to.equal(undefined);
    leadership.holdUntil(10);
    const term = leadership.term();
    await clock.advance(9);
    leadership.holdUntil(20);
    await clock.advance(9);
    expect(leadership.term()).to.equal(term);
    expect(term?.aborted).to.equal(false);
    expect(changes).to.deep.equal([true]);
  });

  it("the term ends when the lease is not renewed in time", async () => {
    const { clock, leadership, changes, metrics } = setUp();
    leadership.holdUntil(10);
    const term = leadership.term();
    expect(metrics.leader.with({}).value).to.equal(1);
    await clock.advance(10);
    expect(term?.aborted).to.equal(true);
    expect(leadership.term()).to.equal(undefined);
    expect(changes).to.deep.equal([true, false]);
    expect(metrics.leader.with({}).value).to.equal(0);
    expect(metrics.leaderTransitions.with({}).value).to.equal(2);
  });

  it("a replica that was paused does not lead after the lease has ended, even before a timer fires", () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, schedule: () => () => {} };
    const metrics = createMetricSet(controllerMetrics);
    const leadership = createLeadership({ metrics, log: silentLogger, clock });
    leadership.holdUntil(10);
    const term = leadership.term();
    nowMs = 10;
    expect(leadership.isLeading()).to.equal(false);
    expect(term?.aborted).to.equal(true);
  });

  it("a new term begins after a resignation", () => {
    const { leadership, changes } = setUp();
    leadership.holdUntil(10);
    const first = leadership.term();
    leadership.resign();
    leadership.resign();
    leadership.holdUntil(10);
    expect(leadership.term()).not.to.equal(first);
    expect(changes).to.deep.equal([true, false, true]);
  });

  it("the work of a term is aborted before listeners are notified of its end", () => {
    const { leadership } = setUp();
    leadership.holdUntil(10);
    const term = leadership.term();
    let abortedAtCall: boolean | undefined;
    leadership.subscribe(() => (abortedAtCall = term?.aborted));
    leadership.resign();
    expect(abortedAtCall).to.equal(true);
  });

  it("a lease that has already ended does not begin a term", async () => {
    const { leadership, clock, changes } = setUp();
    await clock.advance(10);
    leadership.holdUntil(10);
    expect(leadership.isLeading()).to.equal(false);
    expect(changes).to.deep.equal([]);
  });
});
