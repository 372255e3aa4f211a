import { isIPv6 } from "node:net";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Balancer, Picker } from "./balancers/balancer.ts";
import { createRoundRobinBalancer } from "./balancers/round-robin.ts";
import { RetryBudget } from "./retry-budget.ts";
import type { PickRequest, Selection, Upstream, UpstreamEndpoint } from "./upstream.ts";

/**
 * The upstreams of a worker: one per endpoint set and protocol. An endpoint is the same object as long as its address
 * and port stay in its set, so that pools and counters carry over; an upstream is replaced when its set changes.
 */
export type UpstreamRegistry = {
  /** Takes over the endpoint sets that changed, by name; undefined is one that is gone. */
  update(changes: ReadonlyMap<string, EndpointSet | undefined>): void;
  /** The present upstream of an endpoint set (`namespace/service/port`); without endpoints when the set is unknown. */
  get(name: string, protocol: Upstream["protocol"]): Upstream;
};

export type UpstreamRegistryOptions = {
  /** Told about endpoints that are gone (`UpstreamClient.retire`). */
  readonly retire: (endpoints: readonly UpstreamEndpoint[]) => void;
  /**
   * Told how many endpoints of a Service (`namespace/name`) are usable, whenever that changes; undefined when the
   * Service is gone. With several ports it is the largest of their sets.
   */
  readonly onUsableEndpoints: (service: string, count: number | undefined) => void;
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

type Protocol = Upstream["protocol"];
type View = { readonly balancer: Balancer; readonly upstream: Upstream };
type Entry = {
  readonly service: string;
  readonly retryBudget: RetryBudget;
  readonly endpoints: readonly UpstreamEndpoint[];
  readonly views: Map<Protocol, View>;
};

export function createUpstreamRegistry(options: UpstreamRegistryOptions): UpstreamRegistry {
  const { retire, onUsableEndpoints, random = Math.random } = options;
  const entries = new Map<string, Entry>();
  /** Names of endpoint sets by Service. */
  const namesByService = new Map<string, Set<string>>();

  const createView = (
    name: string,
    { service, endpoints, retryBudget }: Omit<Entry, "views">,
    protocol: Protocol,
    balancer: Balancer,
  ): View => {
    const picker = balancer.update(endpoints);
    const upstream = {
      key: name,
      service,
      protocol,
      endpoints,
      retryBudget,
      pick: (request, tried) => selectionOf(pickUntried(picker, request, tried)),
    } satisfies Upstream;
    return { balancer, upstream };
  };

  const replace = (name: string, set: EndpointSet): void => {
    const previous = entries.get(name);
    const known = new Map(previous?.endpoints.map((endpoint) => [endpoint.address, endpoint]));
    const present = new Map<string, UpstreamEndpoint>();
    for (const { host, port } of set.addresses) {
      const address = addressText(host, port);
      present.set(address, known.get(address) ?? { host, port, address });
    }
    const endpoints = [...present.values()];
    const gone = [...known.values()].filter(({ address }) => !present.has(address));
    const retryBudget = previous?.retryBudget ?? new RetryBudget(performance.now());
    const views = new Map<Protocol, View>();
    const entry = { service: set.service, endpoints, retryBudget, views };
    for (const [protocol, { balancer }] of previous?.views ?? []) {
      views.set(protocol, createView(name, entry, protocol, balancer));
    }
    entries.set(name, entry);
    if (previous !== undefined && previous.service !== set.service) disown(previous.service, name);
    const names = namesByService.get(set.service);
    if (names === undefined) namesByService.set(set.service, new Set([name]));
    else names.add(name);
    if (gone.length > 0) retire(gone);
  };

  const remove = (name: string): void => {
    const previous = entries.get(name);
    if (previous === undefined) return;
    entries.delete(name);
    disown(previous.service, name);
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
        const before = entries.get(name)?.service;
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
      const balancer = createRoundRobinBalancer(random);
      const created = createView(name, entry ?? unknownEntry(name), protocol, balancer);
      entry?.views.set(protocol, created);
      return created.upstream;
    },
  };
}

const pickUntried = (
  picker: Picker,
  request: PickRequest,
  tried: ReadonlySet<UpstreamEndpoint> | undefined,
): UpstreamEndpoint | undefined =>
  tried === undefined ? picker.pick(request) : (picker.pick(request, tried) ?? picker.pick(request));

const selectionOf = (endpoint: UpstreamEndpoint | undefined): Selection | undefined =>
  endpoint === undefined ? undefined : { endpoint };

const unknownEntry = (name: string): Omit<Entry, "views"> => ({
  service: name.split("/", 2).join("/"),
  endpoints: [],
  retryBudget: new RetryBudget(performance.now()),
});

const addressText = (host: string, port: number): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
