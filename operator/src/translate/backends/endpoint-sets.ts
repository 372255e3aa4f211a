import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { listChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { createOwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { encodeFresh, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { entriesUnder, findEntry, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { reachableIps } from "@svc-gateway/common/values/reachable-ip.ts";
import { emptyWorld, endpointSlicesOf, serviceOfSlice, type World } from "../../world.ts";
import { attempt } from "../attempt.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { createFindings } from "../incremental/findings-list.ts";
import { createGroups, createKeyedList } from "../incremental/groups.ts";
import { memo } from "../incremental/memo.ts";
import type { TranslateSettings } from "../settings.ts";
import { createEndpointSizes } from "./endpoint-sizes.ts";
import { resolveEndpoints, type EndpointRules, type ResolvedEndpoints } from "./endpoints.ts";
import type { PortConnection } from "./port-connections.ts";
import { mergeEndpointRefs, isSameEndpointRef, type EndpointRef } from "./service-port.ts";
import type { ServiceSettings } from "./policy-settings.ts";
import { noTlsPolicies, type TlsPolicies } from "./tls-policies.ts";

type EndpointPart = {
  /** Endpoint sets by the name that backends refer to: `namespace/service/port`, with a suffix for a variant. */
  readonly sets: SortedEntries<ResolvedEndpoints, string>;
  readonly resources: readonly Resource[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/** A reference with its resolved endpoints. */
type Resolved = ResolvedEndpoints & {
  readonly name: string;
  readonly resource: Resource;
  readonly events: readonly DesiredEvent[];
};

/** The settings of policies, by `namespace/name` of the Service. */
type Policies = ReadonlyMap<string, ServiceSettings>;

type Inputs = {
  readonly world: World;
  readonly endpointRefs: readonly EndpointRef[];
  readonly policies: Policies;
  /** The connection settings of Service ports, by `namespace/name` of the Service and number of the port. */
  readonly ports: ReadonlyMap<string, ReadonlyMap<number, PortConnection>>;
  readonly tlsPolicies: Pick<TlsPolicies, "of" | "byService">;
  /** The ports of the gateway's pods. The value is the same until they change. */
  readonly ownPorts: OwnPorts;
};

type Settings = Pick<
  TranslateSettings,
  "allowExternalName" | "localPorts" | "maxServiceEndpointBytes" | "maxEndpointBytes"
>;

/**
 * Keeps the endpoint sets up to date. A set is resolved again when its references change, or when an
 * EndpointSlice or policy of its Service does. `endpointRefs` can name a Service port more than once. Endpoints
 * above the size limit are never resolved.
 */
export function createEndpointTranslator(settings: Settings): (inputs: Inputs) => EndpointPart {
  const { allowExternalName, localPorts } = settings;
  const wanted = createGroups(({ name }: EndpointRef) => name, mergeEndpointRefs, isSameEndpointRef);
  const resolved = createKeyedList(({ name }: Resolved) => name);
  const resourcesOf = memo((all: readonly Resolved[]) => all.map(({ resource }) => resource));
  const findings = createFindings(({ name }: Resolved) => name);
  const sizes = createEndpointSizes(settings);
  let leftOut = sizes.leftOut();
  let last: Inputs = {
    world: emptyWorld,
    endpointRefs: [],
    policies: new Map(),
    ports: new Map(),
    tlsPolicies: noTlsPolicies,
    ownPorts: noOwnPorts,
  };
  let rules: EndpointRules = { allowExternalName, isOwnPort: createOwnPortCheck(noOwnPorts, localPorts) };

  return (inputs) => {
    const changes = wanted.edit(listChanges(last.endpointRefs, inputs.endpointRefs));
    const fresh = new Set(changes.added);
    const refsOf = (service: string): Iterable<EndpointRef> => entriesUnder(wanted.entries, `${service}/`);
    const changed = changedServices(last, inputs);
    for (const service of changed) for (const ref of refsOf(service)) fresh.add(ref);
    const before = leftOut.services;
    for (const service of new Set([...changed, ...servicesOf(changes)])) {
      sizes.count(service, refsOf(service), inputs.world);
    }
    leftOut = sizes.leftOut();
    for (const service of new Set([...before, ...leftOut.services])) {
      if (before.has(service) && leftOut.services.has(service)) continue;
      for (const ref of refsOf(service)) fresh.add(ref);
    }
    if (inputs.ownPorts !== last.ownPorts) {
      rules = { allowExternalName, isOwnPort: createOwnPortCheck(inputs.ownPorts, localPorts) };
      const hosts = changedHosts(last.ownPorts, inputs.ownPorts);
      for (const ref of refsOn(hosts, wanted.entries, resolved.entries.values)) fresh.add(ref);
    }
    last = inputs;
    const names = new Set<string>();
    for (const { name } of changes.removed) names.add(name);
    for (const { name } of fresh) names.add(name);
    const outcome: Changes<Resolved> = {
      removed: presentOf(names, resolved.entries),
      added: Array.from(fresh, (ref) => resolve(ref, inputs, rules, leftOut.services)),
    };
    resolved.edit(outcome);
    findings.edit(outcome);
    return {
      sets: resolved.entries,
      resources: resourcesOf(resolved.entries.values),
      diagnostics: joinLists(leftOut.diagnostics, findings.list.diagnostics),
      events: leftOut.events,
    };
  };
}

/** The Services (`namespace/name`) of references that were added or removed. */
function* servicesOf({ removed, added }: Changes<EndpointRef>): Iterable<string> {
  for (const { key } of removed) yield key;
  for (const { key } of added) yield key;
}

/** The hosts on which the gateway's own ports have changed. */
function changedHosts(before: OwnPorts, after: OwnPorts): ReadonlySet<string> {
  const { removed, added } = listChanges(before.addresses, after.addresses);
  return new Set([...removed, ...added].map(({ host }) => host));
}

/** The references that have, or would otherwise have, an endpoint on one of these hosts. */
function* refsOn(
  hosts: ReadonlySet<string>,
  wanted: SortedEntries<EndpointRef, string>,
  resolved: readonly Resolved[],
): Iterable<EndpointRef> {
  for (const { name, set, refused } of resolved) {
    const isThere = [set.addresses, refused].some((addresses) =>
      addresses.some(({ host }) => reachableIps(host).some((ip) => hosts.has(ip))),
    );
    const ref = isThere ? findEntry(wanted, name) : undefined;
    if (ref !== undefined) yield ref;
  }
}

/** The entries of those keys that exist. */
function presentOf<T>(keys: ReadonlySet<string>, entries: SortedEntries<T, string>): readonly T[] {
  const present: T[] = [];
  for (const key of keys) {
    const entry = findEntry(entries, key);
    if (entry !== undefined) present.push(entry);
  }
  return present;
}

/** The Services (`namespace/name`) with a changed EndpointSlice or policy. */
function changedServices(before: Inputs, after: Inputs): ReadonlySet<string> {
  const services = new Set<string>();
  const slices = listChanges(before.world.EndpointSlice, after.world.EndpointSlice);
  for (const list of [slices.removed, slices.added]) {
    for (const slice of list) {
      const service = serviceOfSlice(slice);
      if (service !== undefined) services.add(`${slice.metadata.namespace}/${service}`);
    }
  }
  addDifferences(before.policies, after.policies, services);
  addDifferences(before.ports, after.ports, services);
  addDifferences(before.tlsPolicies.byService, after.tlsPolicies.byService, services);
  return services;
}

function addDifferences(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
  to: Set<string>,
): void {
  if (before === after) return;
  for (const key of [...before.keys(), ...after.keys()]) {
    if (before.get(key) !== after.get(key)) to.add(key);
  }
}

function resolve(
  ref: EndpointRef,
  { world, policies, ports, tlsPolicies }: Inputs,
  rules: EndpointRules,
  leftOut: ReadonlySet<string>,
): Resolved {
  const { key, name, service } = ref;
  const none: ResolvedEndpoints = {
    set: { service: key, resolve: "static", addresses: [] },
    refused: [],
    diagnostics: [],
  };
  const slices = endpointSlicesOf(world, service.metadata.namespace, service.metadata.name);
  const {
    set: found,
    refused,
    diagnostics,
  } = leftOut.has(key) ? none : attempt(service, () => resolveEndpoints(ref, slices, rules), none);
  const settings = policies.get(key);
  const connection = ref.port.protocol === "UDP" ? undefined : ports.get(key)?.get(ref.port.port);
  const ofTlsPolicy = tlsPolicies.of(ref);
  const tls = ofTlsPolicy ?? connection?.tls?.name ?? ref.variant?.tls;
  const set: EndpointSet = {
    ...found,
    ...(settings?.policy !== undefined && { policy: settings.policy }),
    ...(settings?.balancing !== undefined && { balancing: settings.balancing }),
    ...(tls !== undefined && { tls }),
    ...(ofTlsPolicy === undefined && connection?.followsClient === true && { tlsFollowsClient: true }),
    ...(connection?.protocol !== undefined && { protocol: connection.protocol }),
  };
  return {
    name,
    set,
    refused,
    resource: encodeFresh(endpointsKey(name), set),
    // The Service port itself, which is always among the references, has the same diagnostics.
    diagnostics: ref.variant === undefined ? diagnostics : [],
    events: [],
  };
}
