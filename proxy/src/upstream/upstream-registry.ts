import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { EndpointGroup, type SetIdentity } from "./endpoint-group.ts";
import { RetryBudget } from "./retry-budget.ts";
import { atOnce, forEachInSteps, type Steps } from "../timing/steps.ts";
import { createTlsStore, type TlsChanges } from "./tls/tls-store.ts";
import type { Upstream, UpstreamEndpoint } from "./upstream.ts";
import type { ViewEnvironment } from "./upstream-view.ts";
import { UsableEndpoints, type UsableEndpointGauges } from "./usable-endpoints.ts";

/** The changes of an update: endpoint sets by name (undefined if removed), and the TLS settings that they reference. */
export type UpstreamChanges = {
  readonly endpoints: ReadonlyMap<string, EndpointSet | undefined>;
  readonly tls?: TlsChanges;
};

/**
 * The upstreams of a worker, one per endpoint set, protocol and (if the set has TLS) client certificate. An endpoint
 * remains the same object while its address, port and TLS settings do not change. This keeps its pools and counters,
 * and never uses a connection under another policy or certificate. An upstream is replaced when its set changes.
 */
export type UpstreamRegistry = {
  /** Applies changes, which are in effect on return. Its cost is bounded by the number of sets in use. */
  update(changes: UpstreamChanges): void;
  /**
   * Merges the changes of the last update into the store of all sets. If this is not called, the next update does it.
   */
  settle(): Steps<void>;
  /** Returns the current endpoint set of a name, so that its changes can be followed; undefined if it is unknown. */
  follow(name: string): FollowedSet | undefined;
  /**
   * Returns the current upstream of an endpoint set (`namespace/service/port`). It has no endpoints if the set is
   * unknown. `identity` is the Gateway whose certificate is presented to backends with TLS, or `passThrough`.
   */
  get(name: string, protocol: Upstream["protocol"], identity?: string): Upstream;
  /** Sets the key of session cookies; undefined removes it. */
  setSessionKey(key: Buffer | undefined): void;
  /** Drops the state of all routes that are no longer served. */
  retainRoutes(isServed: (routeId: string) => boolean): void;
  /** Updates the gauges of endpoint counts, and those that reflect memory shared with other workers. */
  refreshGauges(): void;
};

/**
 * An endpoint set to follow. `changes` increases whenever its upstreams are replaced, except when the set is removed.
 */
export type FollowedSet = { readonly changes: number };

export type UpstreamRegistryOptions = {
  /** Receives removed endpoints (`UpstreamClient.retire`). */
  readonly retire: (endpoints: readonly UpstreamEndpoint[]) => void;
  /** Written by `refreshGauges`. */
  readonly usableEndpoints: UsableEndpointGauges;
  readonly breakers: ViewEnvironment["breakers"];
  /** Returns a number from 0 to 1, 1 excluded. */
  readonly random?: () => number;
};

type Entry = {
  set: EndpointSet;
  changes: number;
  identity: SetIdentity | undefined;
  /** One per client certificate that has been requested. */
  groups: readonly EndpointGroup[];
};

const noGroups: readonly EndpointGroup[] = [];

const noCertificate = "";

/**
 * The identity of connections that are passed through, which ignore the TLS settings of sets. No Gateway has this name.
 */
export const passThrough = "-";

export function createUpstreamRegistry(options: UpstreamRegistryOptions): UpstreamRegistry {
  const { breakers, random = Math.random } = options;
  const sets = new Map<string, EndpointSet>();
  /** Changes that are in effect but not yet merged into `sets`. */
  let changed: UpstreamChanges["endpoints"] | undefined;
  /** The sets that this worker has used. Most sets of a large snapshot are never used on a given worker. */
  const entries = new Map<string, Entry>();
  const usableEndpoints = new UsableEndpoints(options.usableEndpoints);
  const environment: ViewEnvironment = { breakers, sessionKey: { current: undefined }, random };
  const tlsStore = createTlsStore();

  const retire = (endpoints: readonly UpstreamEndpoint[]): void => {
    if (endpoints.length > 0) options.retire(endpoints);
  };

  const updateGroup = (name: string, group: EndpointGroup, set: EndpointSet): void => {
    if (set.tls === undefined || group.certificate === passThrough)
      return retire(group.update(set, undefined));
    const cleartext = (protocol: Upstream["protocol"]): Upstream => get(name, protocol, passThrough);
    const tls = tlsStore.get(set.tls, group.certificate);
    retire(group.update(set, tls, set.tlsFollowsClient === true ? cleartext : undefined));
  };

  const closeGroup = (group: EndpointGroup): void => {
    group.close();
    retire(group.endpoints);
  };

  const dropGroup = (entry: Entry, dropped: EndpointGroup): void => {
    entry.groups = entry.groups.filter((group) => group !== dropped);
    closeGroup(dropped);
  };

  const setOf = (name: string): EndpointSet | undefined =>
    changed?.has(name) === true ? changed.get(name) : sets.get(name);

  const replace = (name: string, previous: Entry, set: EndpointSet): void => {
    // Learnt state belongs to one Service.
    if (previous.set.service !== set.service) {
      remove(name, previous);
      previous.changes++;
      return;
    }
    previous.set = set;
    previous.changes++;
    if (previous.identity !== undefined) setLimits(previous.identity, set);
    for (const group of previous.groups) {
      if (group.certificate !== noCertificate && set.tls === undefined) dropGroup(previous, group);
      else updateGroup(name, group, set);
    }
  };

  const remove = (name: string, entry: Entry): void => {
    entries.delete(name);
    for (const group of entry.groups) closeGroup(group);
  };

  /** Updates the sets that are in use. */
  const updateEntries = (changes: UpstreamChanges["endpoints"]): void => {
    const update = (name: string, entry: Entry | undefined): void => {
      if (entry === undefined || !changes.has(name)) return;
      const set = changes.get(name);
      if (set === undefined) remove(name, entry);
      else replace(name, entry, set);
    };
    if (entries.size < changes.size) for (const [name, entry] of entries) update(name, entry);
    else for (const name of changes.keys()) update(name, entries.get(name));
  };

  function* settle(): Steps<void> {
    if (changed === undefined) return;
    yield* forEachInSteps(changed, ([name, set]) => {
      const previous = sets.get(name);
      if (set === undefined) sets.delete(name);
      else sets.set(name, set);
      if (previous !== undefined && previous.service !== set?.service)
        usableEndpoints.setRemoved(previous.service, sets.size);
      if (set !== undefined) usableEndpoints.setChanged(set.service, sets.size);
    });
    changed = undefined;
  }

  const entryOf = (name: string): Entry | undefined => {
    const present = entries.get(name);
    if (present !== undefined) return present;
    const set = setOf(name);
    if (set === undefined) return undefined;
    const entry: Entry = { set, changes: 0, identity: undefined, groups: noGroups };
    entries.set(name, entry);
    return entry;
  };

  /** Updates the groups that depend on a changed policy or certificate. */
  const updateTls = (changes: TlsChanges): void => {
    if (changes.policies.size === 0 && changes.certificates.size === 0) return;
    tlsStore.update(changes);
    for (const [name, entry] of entries) {
      const { set, groups } = entry;
      if (set.tls === undefined) continue;
      const isOther = changes.policies.has(set.tls);
      for (const group of groups) {
        const { certificate } = group;
        if (!isOther && !changes.certificates.has(certificate)) continue;
        entry.changes++;
        const isRemoved =
          changes.certificates.has(certificate) && changes.certificates.get(certificate) === undefined;
        if (isRemoved) dropGroup(entry, group);
        else updateGroup(name, group, set);
      }
    }
  };

  const get: UpstreamRegistry["get"] = (name, protocol, wanted = noCertificate) => {
    const entry = entryOf(name);
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
      updateGroup(name, group, set);
    }
    return group.upstream(set.protocol ?? protocol);
  };

  return {
    update({ endpoints, tls }) {
      atOnce(settle());
      if (tls !== undefined) updateTls(tls);
      changed = endpoints;
      updateEntries(endpoints);
    },
    settle,
    follow: entryOf,
    get,
    setSessionKey(key) {
      environment.sessionKey.current = key;
    },
    retainRoutes(isServed) {
      for (const { groups } of entries.values()) for (const group of groups) group.retainRoutes(isServed);
    },
    refreshGauges() {
      atOnce(settle());
      usableEndpoints.refresh(sets.values());
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
