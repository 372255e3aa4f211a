import { mock } from "node:test";
import { expect } from "chai";
import { retryFilter } from "../../src/filters/retry.ts";
import { timeoutsFilter } from "../../src/filters/timeouts.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import { createBench, endpointAt } from "./fakes.ts";
import { holdClock } from "./held-clock.ts";
import {
  addresses,
  type Bench,
  benchWith,
  connectFailures,
  fail,
  plan,
  retriesOf,
  turn,
} from "./retry-bench.ts";
import { mockTimers } from "../mock-timers.ts";

describe("retries: time and budget", () => {
  // A timer that is much too late lets arrived data be read before it expires.
  holdClock();
  mockTimers();

  it("a retry waits at least the backoff and at most half as long again", async () => {
    const bench = benchWith({ backoffMs: 100 });
    bench.request();
    await fail(bench, "refused");
    mock.timers.tick(99);
    expect(bench.upstream.sent).to.have.length(1);
    mock.timers.tick(51);
    expect(bench.upstream.sent).to.have.length(2);
  });

  it("the wait for a retry ends when the client leaves, or when the time of the request is over", async () => {
    for (const status of [499, 504]) {
      const bench = benchWith({ backoffMs: 100 });
      const client = bench.request();
      await fail(bench, "refused");
      if (status === 499) client.onClose?.("client-closed");
      else bench.active.sweep(performance.now() + 6_000);
      mock.timers.tick(1000);
      expect(bench.upstream.sent).to.have.length(1);
      expect(bench.records.map((record) => record.status)).to.deep.equal([status]);
    }
  });

  it("a response timeout is retried like a 504, for idempotent methods", async () => {
    const timedOut = async (method: string, codes: number[]): Promise<Bench> => {
      const bench = createBench({
        filters: [timeoutsFilter({ readTimeoutMs: 50 }), retryFilter({ ...plan, codes })],
        endpoints: 2,
      });
      bench.request({ method });
      bench.upstream.last.handler.onConnection(false);
      mock.timers.tick(50);
      await turn();
      return bench;
    };
    const retried = await timedOut("GET", [504]);
    expect(retried.upstream.sent).to.have.length(2);
    expect([retriesOf(retried, "timeout"), retried.upstream.aborted]).to.deep.equal([1, 1]);
    for (const [method, codes] of [
      ["POST", [504]],
      ["GET", [503]],
    ] as const) {
      const given = await timedOut(method, [...codes]);
      expect([given.upstream.sent.length, given.records[0]?.status]).to.deep.equal([1, 504]);
    }
  });

  it("a response timeout counts as a failure of the endpoint although another attempt follows", async () => {
    const reported: string[] = [];
    const endpoint = { host: "127.0.0.1", port: 1, address: "127.0.0.1:1" };
    const watch = {
      responded: () => undefined,
      failed: () => void reported.push("failed"),
      ended: () => undefined,
    };
    const retryBudget = new RetryBudget(0);
    const protocol = "http1" as const;
    const upstream = { key: "ns/web/80", service: "ns/web", protocol, retryBudget, endpoints: [endpoint] };
    const pick = () => ({ endpoint, watch, setCookie: undefined });
    const bench = createBench({
      filters: [timeoutsFilter({ readTimeoutMs: 50 }), retryFilter({ ...plan, codes: [504] })],
      backend: { kind: "upstream", filters: [], upstream: { ...upstream, pick } },
    });
    bench.request();
    bench.upstream.last.handler.onConnection(false);
    mock.timers.tick(50);
    await turn();
    expect([bench.upstream.sent.length, reported]).to.deep.equal([2, ["failed"]]);
  });

  it("a request is not retried, and counted, when the retry budget of the backend is used up", async () => {
    const bench = benchWith({ attempts: 10_000 });
    const client = bench.request();
    for (let attempt = 0; attempt < 5_000 && client.head === undefined; attempt++) await fail(bench, "reset");
    expect(client.head?.status).to.equal(502);
    expect(bench.upstream.sent.length).to.be.within(100, 1_000);
    expect(bench.metrics.limitsReached.with({ limit: "retry-budget" }).value).to.equal(1);
  });

  it("retries without a connection use the retry budget after the first 32 of a request", async () => {
    const bench = benchWith({ attempts: 10_000 });
    const client = bench.request();
    while (bench.retryBudget.withdraw(performance.now()));
    for (let attempt = 0; attempt < 5_000 && client.head === undefined; attempt++)
      await fail(bench, "refused");
    expect(client.head?.status).to.equal(502);
    expect(bench.upstream.sent.length).to.be.within(33, 500);
    expect(bench.metrics.limitsReached.with({ limit: "retry-budget" }).value).to.equal(1);
  });

  for (const [kind] of connectFailures) {
    it(`a request that failed with ${kind} is retried up to its attempts although the retry budget is used up`, async () => {
      const bench = benchWith({ attempts: 3 }, 2);
      const client = bench.request();
      let left = true;
      while (left) left = bench.retryBudget.withdraw(performance.now());
      for (let attempt = 0; attempt < 3; attempt++) await fail(bench, kind);
      expect(addresses(bench).slice(0, 2)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2"]);
      expect([bench.upstream.sent.length, client.head]).to.deep.equal([4, undefined]);
      await fail(bench, kind);
      expect(client.head?.status).to.be.within(502, 504);
      expect(bench.metrics.limitsReached.with({ limit: "retry-budget" }).value).to.equal(0);
    });
  }

  it("a request whose only endpoint was replaced goes to the new one although the retry budget is used up", async () => {
    const bench = benchWith({}, 1);
    bench.request();
    let left = true;
    while (left) left = bench.retryBudget.withdraw(performance.now());
    bench.endpoints[0] = endpointAt(2);
    await fail(bench, "refused");
    expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2"]);
  });

  it("a retry is answered 503 when every endpoint was removed before it", async () => {
    const bench = benchWith({ backoffMs: 100 }, 1);
    const client = bench.request();
    await fail(bench, "refused");
    bench.endpoints.length = 0;
    mock.timers.tick(150);
    expect(client.head?.status).to.equal(503);
  });
});
