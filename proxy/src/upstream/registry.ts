import { isIPv6 } from "node:net";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { RetryBudget } from "./retry-budget.ts";
import type { ConnectionLimits, Upstream, UpstreamEndpoint } from "./upstream.ts";
import { UpstreamView, type ViewEnvironment } from "./upstream-view.ts";

/**
 * The upstreams of a worker: one per endpoint set and protocol. An endpoint is the same object as long as its address
 * and port stay in its set, so that pools and counters carry over; an upstream is replaced when its set changes.
 */
export type UpstreamRegistry = {
  /** Takes over the endpoint sets that changed, by name; undefined is one that is gone. */
  update(changes: ReadonlyMap<string, EndpointSet | undefined>): void;
  /** The present upstream of an endpoint set (`namespace/service/port`); without endpoints when the set is unknown. */
  get(name: string, protocol: Upstream["protocol"]): Upstream;
  /** Takes over the key of session cookies; undefined: there is none any more. */
  setSessionKey(key: Buffer | undefined): void;
  /** These routes are gone: what was learnt for them is dropped. */
  forgetRoutes(routeIds: ReadonlySet<string>): void;
  /** Brings gauges up to date that follow memory shared with other workers. */
  refreshGauges(): void;
};

export type UpstreamRegistryOptions = {
  /** Told about endpoints that are gone (`UpstreamClient.retire`). */
  readonly retire: (endpoints: readonly UpstreamEndpoint[]) => void;
  /**
   * Told how many endpoints of a Service (`namespace/name`) are usable, whenever that changes; undefined when the
   * Service is gone. With several ports it is the largest of their sets.
   */
  readonly onUsableEndpoints: (service: string, count: number | undefined) => void;
  readonly breakers: ViewEnvironment["breakers"];
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

type Protocol = Upstream["protocol"];
type View = { readonly view: UpstreamView; upstream: Upstream };
type Entry = {
  readonly set: EndpointSet;
  readonly retryBudget: RetryBudget;
  readonly endpoints: readonly UpstreamEndpoint[];
  /** One object for all endpoints that the set ever has. */
  readonly limits: ConnectionLimits;
  readonly views: Map<Protocol, View>;
};

export function createUpstreamRegistry(options: UpstreamRegistryOptions): UpstreamRegistry {
  const { retire, onUsableEndpoints, breakers, random = Math.random } = options;
  const entries = new Map<string, Entry>();
  /** Names of endpoint sets by Service. */
  const namesByService = new Map<string, Set<string>>();
  const environment: ViewEnvironment = { breakers, sessionKey: { current: undefined }, random };

  const replace = (name: string, set: EndpointSet): void => {
    const previous = entries.get(name);
    const known = new Map(previous?.endpoints.map((endpoint) => [endpoint.address, endpoint]));
    const present = new Map<string, UpstreamEndpoint>();
    const limits = previous?.limits ?? { connectTimeoutMs: undefined, idleTimeoutMs: undefined };
    limits.connectTimeoutMs = set.policy?.connectTimeoutMs;
    limits.idleTimeoutMs = set.policy?.idleTimeoutMs;
    for (const { host, port } of set.addresses) {
      const address = addressText(host, port);
      present.set(address, known.get(address) ?? { host, port, address, limits });
    }
    const endpoints = [...present.values()];
    const gone = [...known.values()].filter(({ address }) => !present.has(address));
    const retryBudget = previous?.retryBudget ?? new RetryBudget(performance.now());
    // A view belongs to one Service.
    const isSame = previous?.set.service === set.service;
    const views = isSame ? previous.views : new Map<Protocol, View>();
    for (const kept of views.values()) kept.upstream = kept.view.update(endpoints, set.policy);
    entries.set(name, { set, retryBudget, endpoints, limits, views });
    if (previous !== undefined && !isSame) {
      closeViews(previous);
      disown(previous.set.service, name);
    }
    const names = namesByService.get(set.service);
    if (names === undefined) namesByService.set(set.service, new Set([name]));
    else names.add(name);
    if (gone.length > 0) retire(gone);
  };

  const remove = (name: string): void => {
    const previous = entries.get(name);
    if (previous === undefined) return;
    entries.delete(name);
    closeViews(previous);
    disown(previous.set.service, name);
    if (previous.endpoints.length > 0) retire(previous.endpoints);
  };

  const disown = (service: string, name: string): void => {
    const names = namesByService.get(service);
    names?.delete(name);
    if (names?.size === 0) namesByService.delete(service);
  };

  const report = (service: string): void => {
    const names = namesByService.get(service);
    if (names === undefined) return onUsableEndpoints(service, undefined);
    onUsableEndpoints(
      service,
      Math.max(...[...names].map((name) => entries.get(name)?.endpoints.length ?? 0)),
    );
  };

  return {
    update(changes) {
      const services = new Set<string>();
      for (const [name, set] of changes) {
        const before = entries.get(name)?.set.service;
        if (set === undefined) remove(name);
        else replace(name, set);
        for (const service of [before, set?.service]) if (service !== undefined) services.add(service);
      }
      for (const service of services) report(service);
    },
    get(name, protocol) {
      const entry = entries.get(name);
      const view = entry?.views.get(protocol);
      if (view !== undefined) return view.upstream;
      const service = entry?.set.service ?? name.split("/", 2).join("/");
      const retryBudget = entry?.retryBudget ?? new RetryBudget(performance.now());
      const created = new UpstreamView({ key: name, service, protocol, retryBudget }, environment);
      const upstream = created.update(entry?.endpoints ?? [], entry?.set.policy);
      entry?.views.set(protocol, { view: created, upstream });
      return upstream;
    },
    setSessionKey(key) {
      environment.sessionKey.current = key;
    },
    forgetRoutes(routeIds) {
      for (const { views } of entries.values())
        for (const { view } of views.values()) view.forgetRoutes(routeIds);
    },
    refreshGauges() {
      for (const { views } of entries.values()) for (const { view } of views.values()) view.refreshGauges();
    },
  };
}

const closeViews = ({ views }: Entry): void => {
  for (const { view } of views.values()) view.close();
};

const addressText = (host: string, port: number): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
