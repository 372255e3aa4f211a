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
  /** Brings gauges up to date that follow memory shared with other workers. */
  refreshGauges(): void;
};

export type UpstreamRegistryOptions = {
  /** Called with removed endpoints (`UpstreamClient.retire`). */
  readonly retire: (endpoints: readonly UpstreamEndpoint[]) => void;
  /**
   * Called with the number of usable endpoints of a Service (`namespace/name`) whenever it changes; undefined when the
   * Service is removed. With several ports it is that of the largest set.
   */
  readonly onUsableEndpoints: (service: string, count: number | undefined) => void;
  readonly breakers: ViewEnvironment["breakers"];
  /** A number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

type Entry = {
  readonly set: EndpointSet;
  readonly identity: SetIdentity;
  /** The first one has no certificate; those with one are created when they are first used. */
  groups: readonly [EndpointGroup, ...EndpointGroup[]];
};

const noCertificate = "";

/** The identity of connections whose bytes are passed through: for them no set has TLS. No Gateway has this name. */
export const passThrough = "-";

export function createUpstreamRegistry(options: UpstreamRegistryOptions): UpstreamRegistry {
  const { onUsableEndpoints, breakers, random = Math.random } = options;
  const entries = new Map<string, Entry>();
  /** Names of endpoint sets by Service. */
  const namesByService = new Map<string, readonly string[]>();
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

  /** Removes a group, but never the one without a certificate. */
  const dropGroup = (entry: Entry, dropped: EndpointGroup): void => {
    const [plain, ...others] = entry.groups;
    entry.groups = [plain, ...others.filter((group) => group !== dropped)];
    closeGroup(dropped);
  };

  const replace = (name: string, set: EndpointSet): void => {
    const previous = entries.get(name);
    // Learnt state belongs to one Service.
    if (previous !== undefined && previous.set.service !== set.service) remove(name);
    const known = entries.get(name);
    const identity = known?.identity ?? createIdentity(name, set.service);
    const groups: Entry["groups"] = known?.groups ?? [new EndpointGroup(identity, environment)];
    identity.limits.connectTimeoutMs = set.policy?.connectTimeoutMs;
    identity.limits.idleTimeoutMs = set.policy?.idleTimeoutMs;
    identity.limits.refusesNodeLocal = set.external === true;
    const entry = { set, identity, groups };
    entries.set(name, entry);
    for (const group of groups) {
      if (group.certificate !== noCertificate && set.tls === undefined) dropGroup(entry, group);
      else updateGroup(group, set);
    }
    const names = namesByService.get(set.service) ?? [];
    if (!names.includes(name)) namesByService.set(set.service, [...names, name]);
  };

  const remove = (name: string): void => {
    const previous = entries.get(name);
    if (previous === undefined) return;
    entries.delete(name);
    for (const group of previous.groups) closeGroup(group);
    const { service } = previous.set;
    const names = (namesByService.get(service) ?? []).filter((other) => other !== name);
    if (names.length === 0) namesByService.delete(service);
    else namesByService.set(service, names);
  };

  const report = (service: string): void => {
    const names = namesByService.get(service);
    if (names === undefined) return onUsableEndpoints(service, undefined);
    const counts = names.map((name) => entries.get(name)?.groups[0].endpoints.length ?? 0);
    onUsableEndpoints(service, Math.max(...counts));
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
      const services = new Set<string>();
      for (const [name, set] of endpoints) {
        const before = entries.get(name)?.set.service;
        if (set === undefined) remove(name);
        else replace(name, set);
        for (const service of [before, set?.service]) if (service !== undefined) services.add(service);
      }
      for (const service of services) report(service);
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
