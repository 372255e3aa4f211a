import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { EndpointGroup, type SetIdentity } from "./endpoint-group.ts";
import { RetryBudget } from "./retry-budget.ts";
import { createTlsStore, type TlsChanges } from "./tls/tls-store.ts";
import type { Upstream, UpstreamEndpoint } from "./upstream.ts";
import type { ViewEnvironment } from "./upstream-view.ts";

/** What an update changes: endpoint sets by name (undefined: removed), and the TLS settings that they reference. */
export type UpstreamChanges = {
  readonly endpoints: ReadonlyMap<string, EndpointSet | undefined>;
  readonly tls?: TlsChanges;
};

/**
 * The upstreams of a worker: one per endpoint set, protocol and, where the set has TLS, client certificate. An endpoint
 * remains the same object while its address, port and TLS settings do not change, so that pools and counters carry
 * over, and connections of another policy or certificate are never used; an upstream is replaced when its set changes.
 */
export type UpstreamRegistry = {
  /** Applies changes. Returns the names of the sets whose upstreams were replaced. */
  update(changes: UpstreamChanges): ReadonlySet<string>;
  /**
   * The present upstream of an endpoint set (`namespace/service/port`); without endpoints when the set is unknown.
   * `identity` is the Gateway whose certificate is presented to backends with TLS, or `passThrough`.
   */
  get(name: string, protocol: Upstream["protocol"], identity?: string): Upstream;
  /** Sets the key of session cookies; undefined removes it. */
  setSessionKey(key: Buffer | undefined): void;
  /** Drops the state of all routes but these. */
  retainRoutes(isServed: (routeId: string) => boolean): void;
  /** Brings gauges up to date: the numbers of endpoints, and what follows memory shared with other workers. */
  refreshGauges(): void;
};

export type UpstreamRegistryOptions = {
  /** Called with removed endpoints (`UpstreamClient.retire`). */
  readonly retire: (endpoints: readonly UpstreamEndpoint[]) => void;
  /** Written by `refreshGauges`: the number of usable endpoints of each Service (`namespace/name`). */
  readonly usableEndpoints: {
    /** The number may have changed. With several ports it is that of the largest set. */
    set(service: string, count: number): void;
    /** Services were removed: forgets all but the present ones. */
    retain(isPresent: (service: string) => boolean): void;
  };
  readonly breakers: ViewEnvironment["breakers"];
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

/** Most sets of a large snapshot get no request on a worker, so all but the set itself is created with its first use. */
type Entry = {
  set: EndpointSet;
  identity: SetIdentity | undefined;
  /** One for each certificate that was asked for. */
  groups: readonly EndpointGroup[];
};

const noGroups: readonly EndpointGroup[] = [];

const noCertificate = "";

/** The identity of connections whose bytes are passed through: for them no set has TLS. No Gateway has this name. */
export const passThrough = "-";

export function createUpstreamRegistry(options: UpstreamRegistryOptions): UpstreamRegistry {
  const { usableEndpoints, breakers, random = Math.random } = options;
  const entries = new Map<string, Entry>();
  /** Names of endpoint sets by Service. */
  const namesByService = new Map<string, readonly string[]>();
  /** Present Services whose number of endpoints may have changed since gauges were refreshed. */
  const unreported = new Set<string>();
  let serviceWasRemoved = false;
  const environment: ViewEnvironment = { breakers, sessionKey: { current: undefined }, random };
  const tlsStore = createTlsStore();

  const retire = (endpoints: readonly UpstreamEndpoint[]): void => {
    if (endpoints.length > 0) options.retire(endpoints);
  };

  const updateGroup = (group: EndpointGroup, set: EndpointSet): void => {
    const isPlain = set.tls === undefined || group.certificate === passThrough;
    retire(group.update(set, isPlain ? undefined : tlsStore.get(set.tls, group.certificate)));
  };

  const closeGroup = (group: EndpointGroup): void => {
    group.close();
    retire(group.endpoints);
  };

  const dropGroup = (entry: Entry, dropped: EndpointGroup): void => {
    entry.groups = entry.groups.filter((group) => group !== dropped);
    closeGroup(dropped);
  };

  const replace = (name: string, set: EndpointSet): void => {
    unreported.add(set.service);
    const previous = entries.get(name);
    // Learnt state belongs to one Service.
    if (previous !== undefined && previous.set.service !== set.service) remove(name);
    const entry = entries.get(name);
    if (entry === undefined) {
      entries.set(name, { set, identity: undefined, groups: noGroups });
      namesByService.set(set.service, [...(namesByService.get(set.service) ?? []), name]);
      return;
    }
    entry.set = set;
    if (entry.identity !== undefined) setLimits(entry.identity, set);
    for (const group of entry.groups) {
      if (group.certificate !== noCertificate && set.tls === undefined) dropGroup(entry, group);
      else updateGroup(group, set);
    }
  };

  const remove = (name: string): void => {
    const previous = entries.get(name);
    if (previous === undefined) return;
    entries.delete(name);
    for (const group of previous.groups) closeGroup(group);
    const { service } = previous.set;
    const names = (namesByService.get(service) ?? []).filter((other) => other !== name);
    if (names.length > 0) {
      namesByService.set(service, names);
      unreported.add(service);
      return;
    }
    namesByService.delete(service);
    unreported.delete(service);
    serviceWasRemoved = true;
  };

  const report = (service: string): void => {
    const counts = (namesByService.get(service) ?? []).map((name) => countEndpoints(entries.get(name)?.set));
    usableEndpoints.set(service, Math.max(...counts));
  };

  /** Updates the groups that depend on a changed policy or certificate. */
  const updateTls = (changes: TlsChanges, changed: Set<string>): void => {
    if (changes.policies.size === 0 && changes.certificates.size === 0) return;
    tlsStore.update(changes);
    for (const [name, entry] of entries) {
      const { set, groups } = entry;
      if (set.tls === undefined) continue;
      const isOther = changes.policies.has(set.tls);
      for (const group of groups) {
        const { certificate } = group;
        if (!isOther && !changes.certificates.has(certificate)) continue;
        changed.add(name);
        const isRemoved =
          changes.certificates.has(certificate) && changes.certificates.get(certificate) === undefined;
        if (isRemoved) dropGroup(entry, group);
        else updateGroup(group, set);
      }
    }
  };

  return {
    update({ endpoints, tls }) {
      const changed = new Set(endpoints.keys());
      if (tls !== undefined) updateTls(tls, changed);
      for (const [name, set] of endpoints) {
        if (set === undefined) remove(name);
        else replace(name, set);
      }
      return changed;
    },
    get(name, protocol, wanted = noCertificate) {
      const entry = entries.get(name);
      if (entry === undefined) {
        const service = name.split("/", 2).join("/");
        return new EndpointGroup(createIdentity(name, service), environment).upstream(protocol);
      }
      const { set, groups } = entry;
      const certificate = set.tls === undefined ? noCertificate : wanted;
      let group = groups.find((one) => one.certificate === certificate);
      if (group === undefined) {
        entry.identity ??= setLimits(createIdentity(name, set.service), set);
        group = new EndpointGroup(entry.identity, environment, certificate);
        entry.groups = [...groups, group];
        updateGroup(group, set);
      }
      return group.upstream(protocol);
    },
    setSessionKey(key) {
      environment.sessionKey.current = key;
    },
    retainRoutes(isServed) {
      for (const { groups } of entries.values()) for (const group of groups) group.retainRoutes(isServed);
    },
    refreshGauges() {
      if (serviceWasRemoved) usableEndpoints.retain((service) => namesByService.has(service));
      serviceWasRemoved = false;
      for (const service of unreported) report(service);
      unreported.clear();
      for (const { groups } of entries.values()) for (const group of groups) group.refreshGauges();
    },
  };
}

const createIdentity = (name: string, service: string): SetIdentity => ({
  name,
  service,
  retryBudget: new RetryBudget(performance.now()),
  limits: { connectTimeoutMs: undefined, idleTimeoutMs: undefined, refusesNodeLocal: false },
});

function setLimits(identity: SetIdentity, { policy, external }: EndpointSet): SetIdentity {
  const { limits } = identity;
  limits.connectTimeoutMs = policy?.connectTimeoutMs;
  limits.idleTimeoutMs = policy?.idleTimeoutMs;
  limits.refusesNodeLocal = external === true;
  return identity;
}

/** An address that a set has twice is one endpoint. */
function countEndpoints(set: EndpointSet | undefined): number {
  const addresses = set?.addresses ?? [];
  if (addresses.length <= 1) return addresses.length;
  return new Set(addresses.map(({ host, port }) => `${host} ${port}`)).size;
}
