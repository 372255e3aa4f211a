import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { expect } from "chai";
import { rateLimitFilter } from "../../src/filters/rate-limit.ts";
import { createRateMemory, createRateStore, type RateStore } from "../../src/filters/rate-store.ts";
import { exchange } from "./support.ts";

/** A filter whose clock the test sets. `ask` answers 0 when the request is let through, else Retry-After. */
function limited(feature: RateLimit, store: RateStore = createRateStore(createRateMemory(100))) {
  const clock = { nowMs: 5_000 };
  const filter = rateLimitFilter(feature, store, () => clock.nowMs);
  const ask = (clientIp: string, headers: string[] = []): number => {
    const under = exchange({ headers });
    under.clientIp = clientIp;
    const reply = filter.onRequest?.(under);
    if (reply === undefined) return 0;
    if (reply instanceof Promise) throw new Error("the filter must not wait");
    expect(reply).to.include({ status: 429, error: "rate limit exceeded" });
    expect(reply.headers?.[0]).to.equal("Retry-After");
    return Number(reply.headers?.[1]);
  };
  /** How many of many requests at once are let through. */
  const passing = (clientIp: string): number =>
    Array.from({ length: 100 }, () => ask(clientIp)).filter((answer) => answer === 0).length;
  return { clock, ask, passing };
}

describe("the rate-limit filter", () => {
  for (const [requestsPerSecond, burst, capacity] of [
    [1, 0, 1],
    [3, 0, 3],
    [7, 4, 11],
    [2.5, 0, 2],
    [0.1, 0, 1],
    [0.1, 2, 2],
  ] as const) {
    it(`lets ${capacity} requests through at once at ${requestsPerSecond}/s with burst ${burst}`, () => {
      expect(limited({ requestsPerSecond, burst }).passing("a")).to.equal(capacity);
    });
  }

  it("then lets one through per interval, and is full again after being idle", () => {
    const { clock, ask, passing } = limited({ requestsPerSecond: 2, burst: 3 });
    expect(passing("a")).to.equal(5);
    clock.nowMs += 499;
    expect(ask("a")).to.equal(1);
    clock.nowMs += 1;
    expect(passing("a")).to.equal(1);
    clock.nowMs += 60_000;
    expect(passing("a")).to.equal(5);
  });

  it("says in whole seconds, at least one, when to come again", () => {
    const { clock, ask } = limited({ requestsPerSecond: 0.1, burst: 0 });
    expect(ask("a")).to.equal(0);
    expect(ask("a")).to.equal(10);
    clock.nowMs += 8_500;
    expect(ask("a")).to.equal(2);
    clock.nowMs += 1_400;
    expect(ask("a")).to.equal(1);
    const glacial = limited({ requestsPerSecond: 1e-300, burst: 0 });
    expect([glacial.ask("a"), glacial.ask("a")]).to.deep.equal([0, 86_400]);
  });

  it("forgets what a slower rate has asked to wait for as soon as the rate is raised", () => {
    const store = createRateStore(createRateMemory(100));
    const slow = limited({ requestsPerSecond: 0.01, burst: 0 }, store);
    expect([slow.ask("a"), slow.ask("a")]).to.deep.equal([0, 100]);
    const raised = limited({ requestsPerSecond: 100, burst: 0 }, store);
    expect(raised.ask("a")).to.equal(1);
    raised.clock.nowMs += 10;
    expect(raised.passing("a")).to.equal(1);
    raised.clock.nowMs += 1_000;
    expect(raised.passing("a")).to.equal(100);
  });

  it("counts clients apart, and not those without an address", () => {
    const { passing } = limited({ requestsPerSecond: 1, burst: 0 });
    expect([passing("a"), passing("b"), passing("")]).to.deep.equal([1, 1, 100]);
  });

  it("counts by the value of a header, and not requests without it", () => {
    const { ask } = limited({ requestsPerSecond: 1, burst: 0, byHeader: "x-key" });
    expect(ask("a", ["X-Key", "one"])).to.equal(0);
    expect(ask("b", ["x-key", "one"])).to.equal(1);
    expect(ask("a", ["x-key", "two"])).to.equal(0);
    expect([ask("a"), ask("a")]).to.deep.equal([0, 0]);
    const long = "k".repeat(10_000);
    expect([
      ask("a", ["x-key", long]),
      ask("a", ["x-key", long]),
      ask("a", ["x-key", `${long}2`]),
    ]).to.deep.equal([0, 1, 0]);
  });
});

describe("the store of rates", () => {
  const rate = { intervalMs: 1000, capacityMs: 1000 };

  it("forgets those used longest ago, and never a key in use", () => {
    const { take } = createRateStore(createRateMemory(100));
    let nowMs = 1;
    const isAdmitted = (key: string): boolean => take(key, rate, (nowMs += 0.01)) === 0;
    expect(isAdmitted("first")).to.equal(true);
    for (let i = 0; i < 1000; i++) {
      expect(isAdmitted(`other ${i}`)).to.equal(true);
      expect(isAdmitted("busy")).to.equal(i === 0);
    }
    expect(isAdmitted("first")).to.equal(true);
    expect(isAdmitted("other 999")).to.equal(false);
  });
});
