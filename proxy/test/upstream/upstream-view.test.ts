import { expect } from "chai";
import type { BackendPolicy } from "@svc-gateway/common/features/backend-policy.ts";
import { Fields } from "../../src/message/fields.ts";
import { loadOf } from "../../src/upstream/endpoint-load.ts";
import type { PickRequest, Selection, Upstream, UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { UpstreamView } from "../../src/upstream/upstream-view.ts";
import { holdClock } from "../http/held-clock.ts";
import { breakerEnvironment, endpointList, pickRequest } from "./balancing.ts";
import { all, cookieOf, harness, hosts, identity, one, pick, three, two } from "./view-harness.ts";

const breaker = { threshold: 50, windowMs: 10_000, minRequests: 2, openMs: 1_000, maxOpenMs: 1_000 };

/** An attempt that ends with this status, or without an answer. */
const finish = ({ watch }: Selection, outcome: number | "failed" | "none"): void => {
  if (outcome === "failed") watch?.failed();
  else if (outcome !== "none") watch?.responded(outcome);
  watch?.ended();
};

describe("UpstreamView: algorithms", () => {
  // A stall between a pick and its response would count as the latency of the endpoint.
  holdClock();
  const cookie = (value: string) => ["Cookie", `a=1; user=${value}`];
  const keyed: readonly [
    string,
    NonNullable<BackendPolicy["loadBalancer"]>,
    (value: string) => Partial<PickRequest>,
  ][] = [
    [
      "the address of the client",
      { algorithm: "hash", key: { from: "source-ip" } },
      (clientIp) => ({ clientIp }),
    ],
    ["the path", { algorithm: "hash", key: { from: "uri" } }, (path) => ({ path })],
    ["the query", { algorithm: "hash", key: { from: "uri" } }, (query) => ({ query: `?${query}` })],
    [
      "a header",
      { algorithm: "hash", key: { from: "header", name: "x-user" } },
      (value) => ({ headers: Fields.of(["X-User", value]) }),
    ],
    [
      "a cookie",
      { algorithm: "hash", key: { from: "cookie", name: "user" } },
      (value) => ({ headers: Fields.of(cookie(value)) }),
    ],
  ];
  for (const [name, loadBalancer, given] of keyed) {
    it(`an upstream with a hash algorithm picks by ${name}, the same on every proxy`, () => {
      const upstream = harness().update({ loadBalancer });
      const other = harness().update({ loadBalancer }, [three, one, two]);
      const values = Array.from({ length: 30 }, (_, index) => `value-${index}`);
      const picked = values.map((value) => pick(upstream, given(value)).endpoint);
      expect(values.map((value) => pick(other, given(value)).endpoint)).to.deep.equal(picked);
      expect(new Set(picked).size).to.equal(3);
      expect(pick(upstream).watch).to.equal(undefined);
    });
  }

  it("a request without the hashed header or cookie is spread round-robin", () => {
    for (const from of ["header", "cookie"] as const) {
      const upstream = harness().update({
        loadBalancer: { algorithm: "hash", key: { from, name: "x-user" } },
      });
      expect(hosts(upstream, 4)).to.deep.equal(["0", "1", "2", "0"]);
    }
  });

  it("least_conn counts requests in flight from the pick to their end, through changes of endpoints", () => {
    const { update } = harness();
    const policy: BackendPolicy = { loadBalancer: { algorithm: "least_conn" } };
    const upstream = update(policy);
    const first = pick(upstream);
    const second = pick(upstream);
    expect([first.endpoint, second.endpoint]).to.deep.equal([one, two]);
    const grown = update(policy, [...all, ...endpointList(1, 3)]);
    expect(hosts(grown, 2).toSorted()).to.deep.equal(["2", "3"]);
    finish(first, 200);
    expect(pick(grown).endpoint).to.equal(one);
    finish(second, "none");
    expect(pick(grown).endpoint).to.equal(two);
    for (const endpoint of [one, two, three]) loadOf(endpoint).inFlight = 0;
  });

  it("ewma samples latencies and penalises endpoints that fail", () => {
    const upstream = harness().update({ loadBalancer: { algorithm: "ewma" } });
    const [a, b, c] = [pick(upstream), pick(upstream), pick(upstream)];
    expect(new Set([a.endpoint, b.endpoint, c.endpoint]).size).to.equal(3);
    finish(a, "failed");
    finish(b, 200);
    finish(c, "failed");
    expect(hosts(upstream, 3).every((host) => host === b.endpoint.host.slice(-1))).to.equal(true);
    expect(loadOf(a.endpoint).latencyMs).to.be.at.least(1_000);
  });

  it("the turn survives other changes of the policy, and restarts with another algorithm", () => {
    const { update } = harness();
    hosts(update({}), 2);
    expect(hosts(update({ connectTimeoutMs: 5 }), 1)).to.deep.equal(["2"]);
    expect(hosts(update({ loadBalancer: { algorithm: "least_conn" } }), 1)).to.deep.equal(["0"]);
  });
});

describe("UpstreamView: balancing of routes", () => {
  const leastLoaded = { balancing: { algorithm: "least_conn" } } as const;

  it("a route with least_conn counts requests from its first one on, beside routes without a balancing", () => {
    const fresh = endpointList(3, 100);
    const upstream = harness().update({}, [...fresh]);
    const held = [pick(upstream, leastLoaded), pick(upstream), pick(upstream)];
    const loaded = new Set(held.map(({ endpoint }) => endpoint));
    for (const endpoint of fresh) expect(loadOf(endpoint).inFlight > 0).to.equal(loaded.has(endpoint));
    for (const selection of held) finish(selection, 200);
    for (const endpoint of fresh) expect(loadOf(endpoint).inFlight).to.equal(0);
  });

  it("a session by header comes before the balancing of a route, and the balancing before the policy", () => {
    const hashed = { balancing: { algorithm: "hash" }, hashKey: "k" } as const;
    const upstream = harness().update({
      loadBalancer: { algorithm: "round_robin" },
      sessionPersistence: { type: "header", name: "x-session" },
    });
    const [byHash] = hosts(upstream, 1, hashed);
    expect(new Set(hosts(upstream, 6, hashed))).to.deep.equal(new Set([byHash]));
    const sessions = Array.from({ length: 30 }, (_, index) => ({
      ...hashed,
      headers: Fields.of(["X-Session", `s${index}`]),
    }));
    expect(new Set(sessions.flatMap((session) => hosts(upstream, 1, session))).size).to.equal(3);
    expect(new Set(hosts(upstream, 6)).size).to.equal(3);
  });
});

describe("UpstreamView: circuit breakers", () => {
  const trip = (upstream: Upstream, endpoint: UpstreamEndpoint): void => {
    for (let i = 0; i < 6; i++) {
      const selection = pick(upstream);
      finish(selection, selection.endpoint === endpoint ? 500 : 200);
    }
  };

  it("an open breaker excludes its endpoint, probes it in time, and readmits it", () => {
    const { update, advance, metrics } = harness();
    const upstream = update({ circuitBreaker: breaker });
    trip(upstream, two);
    expect(hosts(upstream, 4)).to.deep.equal(["0", "2", "0", "2"]);
    const labels = { route: "ingress/ns/web:0.0", upstream: two.address };
    expect(metrics.circuitBreakerTransitions.with({ ...labels, to: "open" }).value).to.equal(1);
    expect(metrics.circuitBreakerRejected.with(labels).value).to.equal(2);
    advance(1_000);
    const selections = Array.from({ length: 6 }, () => pick(upstream));
    const probes = selections.filter(({ endpoint }) => endpoint === two);
    expect(probes).to.have.length(1);
    finish(probes[0] as Selection, 200);
    expect(new Set(hosts(upstream, 3)).size).to.equal(3);
  });

  it("an upstream picks no endpoint when every breaker of the route is open, and other routes are unaffected", () => {
    const upstream = harness().update({ circuitBreaker: breaker }, [one]);
    trip2(upstream);
    expect(upstream.pick(pickRequest())).to.equal(undefined);
    expect(upstream.pick(pickRequest(), new Set([one]))).to.equal(undefined);
    expect(upstream.pick(pickRequest({ routeId: "another" }))?.endpoint).to.equal(one);
  });
  const trip2 = (upstream: Upstream): void => {
    for (let i = 0; i < 2; i++) finish(pick(upstream), "failed");
  };

  it("a circuit breaker is shared by all workers of the pod", () => {
    const memory = new SharedArrayBuffer(2 * 1024 * 1024);
    const [a, b] = [breakerEnvironment(memory), breakerEnvironment(memory)].map(({ environment }) =>
      new UpstreamView(identity, {
        breakers: environment,
        sessionKey: { current: undefined },
        random: () => 0,
      }).update([one], { policy: { circuitBreaker: breaker } }),
    ) as [Upstream, Upstream];
    finish(pick(a), "failed");
    finish(pick(b), "failed");
    expect([a.pick(pickRequest()), b.pick(pickRequest())]).to.deep.equal([undefined, undefined]);
  });

  it("a bound client is sent to another endpoint while its breaker is open, and keeps its cookie", () => {
    const { update, advance } = harness();
    const upstream = update({ circuitBreaker: breaker, sessionPersistence: { type: "cookie", name: "sid" } });
    const bound = pick(upstream);
    const received = Fields.of(["Cookie", cookieOf(bound)]);
    finish(bound, 503);
    finish(pick(upstream, { received }), 503);
    const elsewhere = pick(upstream, { received });
    expect(elsewhere.endpoint).to.not.equal(bound.endpoint);
    expect(elsewhere.setCookie).to.equal(undefined);
    advance(1_000);
    expect(pick(upstream, { received }).endpoint).to.equal(bound.endpoint);
  });

  it("a pick prefers an endpoint that was not tried, and takes a tried one that is not open", () => {
    const upstream = harness().update({ circuitBreaker: breaker });
    trip(upstream, one);
    expect(pick(upstream, {}, [two]).endpoint).to.equal(three);
    expect([two, three]).to.include(pick(upstream, {}, [two, three]).endpoint);
  });

  it("a breaker survives other changes, and the series of removed endpoints are dropped", async () => {
    const { update, metrics, view } = harness();
    trip(update({ circuitBreaker: breaker }), two);
    const changed = update(
      { circuitBreaker: { ...breaker, threshold: 60 }, loadBalancer: { algorithm: "ewma" } },
      [one, two],
    );
    expect(new Set(hosts(changed, 4))).to.deep.equal(new Set(["0"]));
    view.refreshGauges();
    expect((await metrics.expose()).body).to.include(
      `svc_proxy_circuit_breaker_state{route="ingress/ns/web:0.0",upstream="${two.address}"} 1`,
    );
    update({ circuitBreaker: { ...breaker, threshold: 60 }, loadBalancer: { algorithm: "ewma" } }, [one]);
    view.refreshGauges();
    expect((await metrics.expose()).body).to.not.include(two.address);
    update({});
    expect((await metrics.expose()).body).to.not.include('circuit_breaker_state{route="ingress');
  });

  it("the series of removed routes are dropped, even when their last requests end later", async () => {
    const { update, metrics, view } = harness();
    const upstream = update({ circuitBreaker: breaker }, [one]);
    const [first, second] = [pick(upstream), pick(upstream)];
    const forget = (): void => {
      view.retainRoutes(() => false);
      metrics.retainRoutes(() => false);
    };
    forget();
    finish(first, "failed");
    finish(second, "failed");
    view.refreshGauges();
    expect((await metrics.expose()).body).to.not.include("ingress/ns/web:0.0");
    // A request that was still to choose its endpoint brings the route back, until another one goes.
    expect(() => pick(upstream)).to.throw("no endpoint");
    expect((await metrics.expose()).body).to.include("ingress/ns/web:0.0");
    forget();
    view.refreshGauges();
    expect((await metrics.expose()).body).to.not.include("ingress/ns/web:0.0");
  });
});
