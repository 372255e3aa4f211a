import type { RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { expect } from "chai";
import { rateLimitFilter } from "../../src/filters/rate-limit.ts";
import { createRateStore, type RateStore } from "../../src/filters/rate-store.ts";
import { ConcurrencyTable, createConcurrencyMemory } from "../../src/shared/concurrency-table.ts";
import { createShareMemory } from "../../src/shared/share-memory.ts";
import { prefix, prepared } from "../routing/support.ts";
import { exchange } from "./support.ts";

const noConcurrency = { enter: () => 0, leave: () => undefined };

/** A filter whose clock the test sets. `ask` returns 0 when the request passes, else Retry-After. */
function limited(feature: RateLimit, store: RateStore = createRateStore(createShareMemory(1))) {
  const clock = { nowMs: 5_000 };
  const filter = rateLimitFilter(feature, { rates: store, concurrency: noConcurrency }, () => clock.nowMs);
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
    it(`rate-limit: ${capacity} requests pass at once at ${requestsPerSecond}/s with burst ${burst}`, () => {
      expect(limited({ requestsPerSecond, burst }).passing("a")).to.equal(capacity);
    });
  }

  it("rate-limit: one request passes per interval after the burst, and the burst is available again after a pause", () => {
    const { clock, ask, passing } = limited({ requestsPerSecond: 2, burst: 3 });
    expect(passing("a")).to.equal(5);
    clock.nowMs += 499;
    expect(ask("a")).to.equal(1);
    clock.nowMs += 1;
    expect(passing("a")).to.equal(1);
    clock.nowMs += 60_000;
    expect(passing("a")).to.equal(5);
  });

  it("rate-limit: Retry-After is in whole seconds, at least one and at most a day", () => {
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

  it("rate-limit: the wait that a slower rate demanded ends when the rate is raised", () => {
    const store = createRateStore(createShareMemory(1));
    const slow = limited({ requestsPerSecond: 0.01, burst: 0 }, store);
    expect([slow.ask("a"), slow.ask("a")]).to.deep.equal([0, 100]);
    const raised = limited({ requestsPerSecond: 100, burst: 0 }, store);
    expect([raised.ask("a"), raised.ask("a")]).to.deep.equal([0, 1]);
    raised.clock.nowMs += 10;
    expect(raised.passing("a")).to.equal(1);
    raised.clock.nowMs += 1_000;
    expect(raised.passing("a")).to.equal(100);
    expect([slow.ask("b"), slow.ask("b")]).to.deep.equal([0, 100]);
    raised.clock.nowMs += 5_000;
    expect(raised.ask("b")).to.equal(0);
  });

  it("rate-limit: clients are counted apart, and requests without a client address are not counted", () => {
    const { passing } = limited({ requestsPerSecond: 1, burst: 0 });
    expect([passing("a"), passing("b"), passing("")]).to.deep.equal([1, 1, 100]);
  });

  it("rate-limit: requests are counted by the value of a header, and those without it are not counted", () => {
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

describe("the rate-limit filter, by address", () => {
  const { ask } = limited({ requestsPerSecond: 1, burst: 0 });
  for (const [first, second, isOne] of [
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true],
    ["2001:db8:1:3::1", "2001:db8:1:4::1", false],
    ["2001:DB8:1:5:0:0:0:1", "2001:db8:1:5::2", true],
    ["::ffff:192.0.2.1", "192.0.2.1", true],
    ["::ffff:192.0.2.2", "::ffff:192.0.2.3", false],
    ["64:ff9b::198.51.100.1", "64:ff9b::c633:6402", false],
    ["64:ff9b::198.51.100.3", "198.51.100.3", true],
    ["192.0.2.4", "192.0.2.5", false],
  ] as const) {
    it(`rate-limit: ${first} and ${second} are counted ${isOne ? "together" : "apart"}`, () => {
      expect([ask(first), ask(second)]).to.deep.equal([0, isOne ? 1 : 0]);
    });
  }

  it("rate-limit: IPv6 addresses that are the value of a header are counted whole", () => {
    const byHeader = limited({ requestsPerSecond: 1, burst: 0, byHeader: "x-key" });
    expect(byHeader.ask("a", ["X-Key", "2001:db8::1"])).to.equal(0);
    expect(byHeader.ask("a", ["X-Key", "2001:db8::2"])).to.equal(0);
  });
});

describe("the rate-limit filter, on several routes", () => {
  /** Returns a function that reports whether a request of a client passes the filter of a route. */
  const on = (store: RateStore, namespace: string, name: string) => {
    const filter = rateLimitFilter(
      { requestsPerSecond: 0.001, burst: 0 },
      { rates: store, concurrency: noConcurrency },
      () => 5_000,
    );
    const id = `ingress/${namespace}/${name}:0.0`;
    const route = prepared({ ...prefix(id, "/"), source: { kind: "Ingress", namespace, name } });
    return (clientIp: string): boolean => {
      const under = exchange();
      under.clientIp = clientIp;
      under.route = route;
      return filter.onRequest?.(under) === undefined;
    };
  };
  const addresses = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`);

  it("rate-limit: the counts of a route survive floods of clients on other routes, of its namespace or of others", () => {
    const store = createRateStore(createShareMemory(16));
    const victim = on(store, "shop", "web");
    const known = addresses(200);
    for (const address of known) expect(victim(address)).to.equal(true);
    for (const flood of [on(store, "shop", "other"), on(store, "evil", "web"), on(store, "evil", "api")]) {
      for (const address of addresses(50_000)) flood(address);
    }
    expect(known.filter(victim)).to.deep.equal([]);
    const late = on(store, "late", "web");
    expect(known.map(late).includes(false)).to.equal(false);
    expect(known.filter(late)).to.deep.equal([]);
  });
});

describe("the rate-limit filter with several rates", () => {
  const perSecond = { requests: 2, periodMs: 1_000, capacity: 11 };
  const perMinute = { requests: 3, periodMs: 60_000, capacity: 16 };

  it("rate-limit: a rate admits its capacity at once and then its number of requests per period", () => {
    const { clock, passing } = limited({ rates: [perSecond] });
    expect(passing("a")).to.equal(11);
    clock.nowMs += 1_000;
    expect(passing("a")).to.equal(2);
    const minute = limited({ rates: [perMinute] });
    expect(minute.passing("a")).to.equal(16);
    minute.clock.nowMs += 20_000;
    expect(minute.passing("a")).to.equal(1);
  });

  it("rate-limit: a request that one rate refuses is not counted by the others", () => {
    const { clock, ask, passing } = limited({
      rates: [perMinute, { ...perSecond, requests: 1, capacity: 1 }],
    });
    // A hundred requests each second, of which one is admitted: the rate per minute counts only that one.
    for (let second = 0; second < 16; second++) {
      expect(passing("a")).to.equal(1);
      clock.nowMs += 1_000;
    }
    expect(ask("a")).to.be.greaterThan(0);
  });

  it("rate-limit: a status of the feature is answered without Retry-After", () => {
    const stores = { rates: createRateStore(createShareMemory(1)), concurrency: noConcurrency };
    const filter = rateLimitFilter(
      { rates: [{ ...perSecond, capacity: 1 }], status: 503 },
      stores,
      () => 5_000,
    );
    const under = exchange();
    expect(filter.onRequest?.(under)).to.equal(undefined);
    expect(filter.onRequest?.(under)).to.deep.equal({
      status: 503,
      error: "rate limit exceeded",
      reason: "requests-per-second",
    });
  });

  it("rate-limit: exempt clients are neither limited nor counted", () => {
    const { ask, passing } = limited({ rates: [perSecond], exempt: ["10.0.0.0/8", "2001:db8::/32"] });
    expect([passing("10.1.2.3"), passing("2001:db8::1"), passing("11.0.0.1")]).to.deep.equal([100, 100, 11]);
    expect(ask("11.0.0.1")).to.equal(1);
  });

  it("rate-limit: routes of one zone count together, and those of another namespace do not", () => {
    const stores = { rates: createRateStore(createShareMemory(4)), concurrency: noConcurrency };
    const filter = rateLimitFilter(
      { rates: [{ ...perSecond, capacity: 1 }], zone: "web" },
      stores,
      () => 5_000,
    );
    const on = (namespace: string, path: string): boolean => {
      const under = exchange();
      const id = `ingress/${namespace}/web:${path}`;
      under.route = prepared({ ...prefix(id, path), source: { kind: "Ingress", namespace, name: "web" } });
      return filter.onRequest?.(under) === undefined;
    };
    expect([on("shop", "/a"), on("shop", "/b"), on("other", "/a")]).to.deep.equal([true, false, true]);
  });
});

describe("the rate-limit filter with a limit of requests in progress", () => {
  const filterOf = (feature: RateLimit) => {
    const stores = {
      rates: createRateStore(createShareMemory(1)),
      concurrency: new ConcurrencyTable(createConcurrencyMemory(1, 64), 0),
    };
    const filter = rateLimitFilter(feature, stores, () => 5_000);
    return (clientIp: string) => {
      const under = exchange();
      under.clientIp = clientIp;
      return { under, reply: filter.onRequest?.(under) };
    };
  };

  it("rate-limit: a client gets no more requests in progress than its limit until one of them has ended", () => {
    const ask = filterOf({ maxConcurrent: 2, concurrentStatus: 503 });
    const first = ask("a");
    expect([first.reply, ask("a").reply]).to.deep.equal([undefined, undefined]);
    expect(ask("a").reply).to.deep.equal({ status: 503, error: "too many requests in progress" });
    expect(ask("b").reply).to.equal(undefined);
    first.under.finish();
    expect(ask("a").reply).to.equal(undefined);
    expect(ask("a").reply).to.include({ status: 503 });
  });

  it("rate-limit: a request that a rate refuses is in progress only until it is answered", () => {
    const ask = filterOf({ maxConcurrent: 1, rates: [{ requests: 1, periodMs: 1_000, capacity: 1 }] });
    const first = ask("a");
    first.under.finish();
    const second = ask("a");
    expect(second.reply).to.include({ status: 429, error: "rate limit exceeded" });
    second.under.finish();
    expect(ask("a").reply).to.include({ error: "rate limit exceeded" });
  });
});
