/**
 * The resources of each scope: those of the shared proxies, and those of each Gateway with dedicated proxies.
 * Routes refer to endpoint sets, key sets and TLS policies by name, so a dedicated scope contains only those
 * that its own routes refer to.
 */
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { clientCertKey, endpointsKey, jwksKey, listenerKey, tlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { findEntry, sortEntries, type SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { ResolvedEndpoints } from "./backends/endpoints.ts";
import type { OwnScope } from "./gateway/scopes/own-scopes.ts";
import type { GatewayScope } from "./gateway/scopes/scope.ts";
import type { GatewayPart } from "./gateway/translator.ts";
import { ingressListener } from "./ingress/host-table.ts";
import type { IngressPart } from "./ingress/translator.ts";
import type { PortTables } from "./shared-ports.ts";
import type { DedicatedScope } from "./translation.ts";

/** The resources that routes refer to by name, for all scopes together. */
export type NamedResources = {
  readonly keySets: readonly Resource[];
  readonly endpoints: readonly Resource[];
  readonly endpointSets: SortedEntries<ResolvedEndpoints, string>;
  /** Returns the resource with the TLS settings of this name; undefined if routes contain them. */
  readonly tlsSettings: (name: string) => Resource | undefined;
  /** Whether there can be any TLS settings. */
  readonly hasTlsSettings: boolean;
  /** The key of session cookies, which is the same for all scopes; empty if there is none. */
  readonly sessionKey: readonly Resource[];
};

/** A part that refers to endpoints and key sets by name. */
export type ReferringPart = Pick<GatewayScope, "endpointRefs" | "keySets">;

/** The resources of the shared scope; empty without a listener. */
export function sharedResources(
  ingress: IngressPart,
  { shared, dedicated }: GatewayPart,
  { tls, clientCerts, l4 }: PortTables,
  named: NamedResources,
): readonly Resource[] {
  const listenerSets = [
    ...(ingress.listenerSet.listeners.length === 0
      ? []
      : [encodeResource(listenerKey(ingressListener), ingress.listenerSet)]),
    ...shared.listenerSets,
  ];
  if (listenerSets.length === 0) return [];
  const ports = [
    ...[...tls].map(([port, value]) => encodeResource(tlsKey(port), value)),
    ...[...clientCerts].map(([port, value]) => encodeResource(clientCertKey(port), value)),
  ];
  return joinLists(
    listenerSets,
    ports,
    ingress.routes,
    [...withoutRepeatedKeys([...ingress.resources, ...shared.resources])],
    shared.hosts.map(({ resource }) => resource),
    l4.map(({ resource }) => resource),
    // Without dedicated scopes, all named resources belong to this scope.
    dedicated.length === 0
      ? joinLists(named.keySets, named.endpoints, tlsOfEndpoints([ingress, shared], named), named.sessionKey)
      : referredBy([ingress, shared], named),
  );
}

/**
 * The scope of one Gateway with dedicated proxies. Nothing in it is shared with another scope, except for the
 * session key.
 */
export function dedicatedScope(scope: OwnScope, named: NamedResources): DedicatedScope {
  const { namespace, name } = scope.of.gateway.metadata;
  const { endpointRefs, hosts, tls, clientCerts } = scope;
  return {
    gateway: { namespace, name },
    serviceAccount: scope.of.serviceAccount,
    resources:
      scope.listenerSets.length === 0 ? [] : [...gatewayResources(scope), ...referredBy([scope], named)],
    routing: {
      hosts: hosts.map(({ served }) => served),
      endpoints: sortEntries(
        new Map(
          endpointRefs.flatMap(({ name: set }) => {
            const entry = findEntry(named.endpointSets, set);
            return entry === undefined ? [] : [[set, entry] as const];
          }),
        ),
      ),
      tls,
      clientCerts,
    },
  };
}

const gatewayResources = ({
  listenerSets,
  tls,
  clientCerts,
  hosts,
  l4,
  resources,
}: GatewayScope): readonly Resource[] => [
  ...listenerSets,
  ...[...clientCerts].map(([port, value]) => encodeResource(clientCertKey(port), value)),
  ...[...tls].map(([port, value]) => encodeResource(tlsKey(port), value)),
  ...hosts.map(({ resource }) => resource),
  ...l4.map(({ resource }) => resource),
  ...withoutRepeatedKeys(resources),
];

const withoutRepeatedKeys = (resources: readonly Resource[]): Iterable<Resource> =>
  new Map(resources.map((resource) => [resource.key, resource])).values();

/** The named resources that any of the parts refers to. */
function referredBy(parts: readonly ReferringPart[], named: NamedResources): readonly Resource[] {
  const { keySets, endpoints, sessionKey } = named;
  const keys = new Set<string>();
  for (const { endpointRefs, keySets: wanted } of parts) {
    for (const { name } of endpointRefs) keys.add(endpointsKey(name));
    for (const { name } of wanted) keys.add(jwksKey(name));
  }
  const found = [...keySets, ...endpoints].filter(({ key }) => keys.has(key));
  return [...found, ...tlsOfEndpoints(parts, named), ...sessionKey];
}

/** The TLS settings of the endpoint sets that the parts refer to, without duplicates. */
function tlsOfEndpoints(
  parts: readonly ReferringPart[],
  { endpointSets, tlsSettings, hasTlsSettings }: NamedResources,
): readonly Resource[] {
  if (!hasTlsSettings) return [];
  const names = new Set<string>();
  for (const { endpointRefs } of parts) {
    for (const { name } of endpointRefs) {
      const tls = findEntry(endpointSets, name)?.set.tls;
      if (tls !== undefined) names.add(tls);
    }
  }
  return [...names].flatMap((name) => tlsSettings(name) ?? []);
}
