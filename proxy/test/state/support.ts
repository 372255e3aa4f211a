import type { BackendRequest } from "../../src/exchange/compiled-route.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import {
  endpointsKey,
  listenerKey,
  routeKey,
  tlsKey,
  type ResourceKey,
  type RouteGroup,
} from "@svc-gateway/common/ir/keys.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import { createSnapshot, diffSnapshots, fullUpdate, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import type { CompiledRoute } from "../../src/exchange/compiled-route.ts";
import { createProxyState, type ProxyState, type ServingState } from "../../src/state/proxy-state.ts";
import { createProxyMetrics, type ProxyMetrics } from "../../src/telemetry/metrics.ts";
import type { UpstreamRegistry } from "../../src/upstream/upstream-registry.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { pattern, request } from "../routing/support.ts";
import { pickRequest } from "../upstream/balancing.ts";

/** A request for balancers whose choice does not depend on it. */
export const anyRequest: BackendRequest = {
  ...pickRequest(),
  host: "a.example",
  authority: "a.example",
  method: "GET",
};

export const backend = (endpoints: string, rest: Partial<Backend> = {}): Backend => ({
  weight: 1,
  service: endpoints.split("/").slice(0, 2).join("/"),
  endpoints,
  protocol: "http1",
  ...rest,
});

export const routeTo = (
  id: string,
  path: string,
  backends: readonly Backend[],
  rest: Partial<Route> = {},
): Route => ({
  id,
  source: { kind: "Ingress", namespace: "ns", name: "web" },
  match: { path: { type: "prefix", value: path } } satisfies RouteMatch,
  backends,
  ...rest,
});

export const host = (
  name: string,
  routes: readonly Route[],
  { group = "ingress", port = 80 }: { readonly group?: RouteGroup; readonly port?: number } = {},
): Resource =>
  encodeResource(routeKey(group, port, pattern(name)), { listener: group, inherit: false, routes });

export const endpoints = (name: string, ...addresses: readonly string[]): Resource =>
  encodeResource(endpointsKey(name), {
    service: name.split("/").slice(0, 2).join("/"),
    resolve: "static",
    addresses: addresses.map((address) => ({ host: address, port: 8080 })),
  });

export const listeners = (owner: string, ...list: readonly Listener[]): Resource =>
  encodeResource(listenerKey(owner), { listeners: list });

/** Certificates of a port, and one server name that is offered the certificate `wanted`. */
export const certificates = (port: number, present: readonly string[], wanted: string): Resource =>
  encodeResource(tlsKey(port), {
    certificates: Object.fromEntries(present.map((id) => [id, { chainPem: "chain", keyPem: "key" }])),
    hosts: [{ bucket: "exact", host: "web.example.com", certificates: [wanted] }],
  });

/** A resource of a kind that this version does not support. */
export const unknown = (key: string): Resource => ({ ...endpoints("ns/x/http"), key: key as ResourceKey });

/** Upstreams that only record their updates. */
export type FakeUpstreams = UpstreamRegistry & {
  readonly sets: Map<string, EndpointSet>;
  /** The number of lookups of an upstream. */
  lookups: number;
};

export function fakeUpstreams(): FakeUpstreams {
  const sets = new Map<string, EndpointSet>();
  const followed = new Map<string, { changes: number }>();
  return {
    sets,
    lookups: 0,
    follow: (name) => followed.get(name),
    update({ endpoints: changes }) {
      for (const [name, set] of changes) {
        const changed = followed.get(name) ?? { changes: 0 };
        if (set === undefined) {
          sets.delete(name);
          followed.delete(name);
        } else {
          sets.set(name, set);
          changed.changes++;
          followed.set(name, changed);
        }
      }
    },
    *settle() {},
    setSessionKey() {},
    retainRoutes() {},
    refreshGauges() {},
    get(name, protocol): Upstream {
      this.lookups++;
      const set = sets.get(name);
      if (set === undefined) throw new Error(`no endpoint set ${name}`);
      const addresses = set.addresses.map((one) => ({ ...one, address: `${one.host}:${one.port}` }));
      const [endpoint] = addresses;
      const pick = () => endpoint && { endpoint, watch: undefined, setCookie: undefined };
      const retryBudget = new RetryBudget(0);
      return { key: name, service: set.service, protocol, endpoints: addresses, retryBudget, pick };
    },
  };
}

/** A state under test, moved from one set of resources to the next. */
export type Harness = {
  readonly state: ProxyState;
  readonly upstreams: FakeUpstreams;
  readonly metrics: ProxyMetrics;
  readonly log: ReturnType<typeof fakeLog>;
  readonly published: ServingState[];
  /** The random numbers for compiling a route with several backends. */
  random: () => number;
  /** Applies the difference to the given world; a refused update leaves the harness where it was. */
  move(...resources: readonly Resource[]): ReturnType<ProxyState["apply"]>;
  /** Applies the given world as a full update. */
  replace(...resources: readonly Resource[]): ReturnType<ProxyState["apply"]>;
  /** The route that a request takes. */
  route(host: string, path: string, port?: number): CompiledRoute | undefined;
};

export function harness(): Harness {
  const upstreams = fakeUpstreams();
  const metrics = createProxyMetrics();
  const log = fakeLog();
  const published: ServingState[] = [];
  const state = createProxyState({
    rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
    concurrency: { enter: () => 0, leave: () => undefined },
    upstreams,
    auth: createAuthStore(),
    metrics,
    log,
    publish: (serving) => void published.push(serving),
    random: () => under.random(),
  });
  let present: Snapshot = createSnapshot([]);
  const go = (next: Snapshot, full: boolean): ReturnType<ProxyState["apply"]> => {
    const result = state.apply(full ? fullUpdate(next) : diffSnapshots(present, next));
    if (result.ok) present = next;
    return result;
  };
  const under: Harness = {
    state,
    upstreams,
    metrics,
    log,
    published,
    random: () => 0.25,
    move: (...resources) => go(createSnapshot(resources), false),
    replace: (...resources) => go(createSnapshot(resources), true),
    route: (name, path, port = 80) => state.serving.tables.get(port)?.match(request(path, { host: name })),
  };
  return under;
}
