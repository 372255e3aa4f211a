/** Builds the resources for Gateways of one scope: the shared proxies, or those of one Gateway. */
import { collect, joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { EndpointRef } from "../../backends/service-port.ts";
import type { KeySetRef } from "../../credentials/remote-key-sets.ts";
import { familyOf } from "../kinds.ts";
import { closedListeners } from "../listeners/closed-listeners.ts";
import { createFrontendValidationBuilder, withoutAuthorities } from "../listeners/frontend-validation.ts";
import { filterFindingsOf, listenersOf, type Listener, type PlannedGateway } from "../listeners/gateways.ts";
import type { Guard } from "../model.ts";
import { closedGuard } from "../policies/external-auths.ts";
import type { L4Plan } from "../routes/l4-route.ts";
import type { RoutePlan } from "../routes/route-plan.ts";
import { boundResource } from "./bound-resource.ts";
import type { WithoutCertificates } from "./certificate-sizes.ts";
import { createHostTableBuilder, type ClaimsOfListener, type GatewayHost } from "./host-tables.ts";
import { createL4TableBuilder, type L4Table } from "./l4-tables.ts";
import type { Bindings } from "./ports.ts";
import { createTlsBuilder, withoutCertificates as closeName } from "./tls.ts";

export type GatewayScope = {
  /** One resource for each Gateway with a bound listener. */
  readonly listenerSets: readonly Resource[];
  readonly hosts: readonly GatewayHost[];
  readonly l4: readonly L4Table[];
  readonly tls: ReadonlyMap<number, TlsPort>;
  /** The client certificates that are requested, by port. Ports where none is requested are omitted. */
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
  /** Can contain a Service port more than once. */
  readonly endpointRefs: readonly EndpointRef[];
  /**
   * The resources that routes, listeners and host tables refer to, besides endpoint sets. Can contain a key
   * more than once, with the same value.
   */
  readonly resources: readonly Resource[];
  /** Key sets that routes and listeners name. Can contain a name more than once. */
  readonly keySets: readonly KeySetRef[];
};

export type ScopeInput = {
  /** The oldest first. */
  readonly gateways: readonly PlannedGateway[];
  /** The ports that the proxies bind for a Gateway. */
  readonly bindingsOf: (gateway: PlannedGateway) => Bindings;
  /** By the id of the listener. Can include listeners of other scopes. */
  readonly claims: ReadonlyMap<string, ClaimsOfListener<RoutePlan>>;
  /** Whether the host of a listener is served by Ingresses on the same port. */
  readonly isTaken: (listener: Listener, port: number) => boolean;
  /** The ports that the proxies of the scope bind for Ingresses. */
  readonly ingressPorts: ReadonlySet<number>;
  readonly l4Claims: ReadonlyMap<string, ClaimsOfListener<L4Plan>>;
  /** The routes that are attached in this scope. */
  readonly routes: readonly RoutePlan[];
  readonly l4Routes: readonly L4Plan[];
  readonly withoutCertificates: WithoutCertificates;
};

/** Builds one scope repeatedly. Unchanged parts of the result keep their identity. */
export function createScopeBuilder(): (input: ScopeInput) => GatewayScope {
  const buildTables = createHostTableBuilder();
  const buildL4Tables = createL4TableBuilder();
  const tlsOf = new Map<number, ReturnType<typeof createTlsBuilder>>();
  const clientCertsOf = new Map<number, ReturnType<typeof createFrontendValidationBuilder>>();
  return ({
    gateways,
    bindingsOf,
    claims,
    isTaken,
    ingressPorts,
    l4Claims,
    routes,
    l4Routes,
    withoutCertificates,
  }) => {
    const ports = [...listenersByPort(gateways, bindingsOf, ingressPorts)].map(([port, listeners]) => ({
      port,
      listeners,
    }));
    const tls = new Map<number, TlsPort>();
    const clientCerts = new Map<number, ClientCertPort>();
    for (const { port, listeners } of ports) {
      // The certificate of a wildcard is also used for the names that it covers, regardless of their owner.
      const secure = listeners.filter(
        (one) => one.tlsMode === "terminate" && !(one.hostname.kind === "exact" && isTaken(one, port)),
      );
      if (secure.length === 0) continue;
      const build = tlsOf.get(port) ?? createTlsBuilder();
      tlsOf.set(port, build);
      tls.set(
        port,
        build(
          secure.map((one) =>
            one.closes || withoutCertificates.listeners.has(one.id) ? closeName(one) : one,
          ),
        ),
      );
      if (!secure.some(({ validation }) => validation !== undefined)) continue;
      const buildClients = clientCertsOf.get(port) ?? createFrontendValidationBuilder();
      clientCertsOf.set(port, buildClients);
      clientCerts.set(
        port,
        buildClients(
          secure.map((one) => (withoutCertificates.listeners.has(one.id) ? withoutAuthorities(one) : one)),
        ),
      );
    }
    const filters = gateways.flatMap(filterFindingsOf);
    return {
      listenerSets: gateways.flatMap((gateway) => boundResource(gateway, bindingsOf(gateway)) ?? []),
      hosts: buildTables(ports, claims, guardsOf(gateways), isTaken),
      l4: buildL4Tables(ports, withoutClosed(l4Claims, gateways), isTaken),
      endpointRefs: joinLists(
        gateways.flatMap(({ guard }) => guard?.endpointRefs ?? []),
        filters.flatMap(({ endpointRefs }) => endpointRefs),
        collect(routes, ({ endpointRefs }) => endpointRefs),
        collect(l4Routes, ({ endpointRefs }) => endpointRefs),
      ),
      resources: joinLists(
        filters.flatMap(({ resources }) => resources),
        collect(routes, ({ resources }) => resources),
        gateways.flatMap(({ gateway, backendCertificate: shown }) => {
          if (shown === undefined) return [];
          return withoutCertificates.gateways.has(gateway) ? shown.withheld : shown.resource;
        }),
      ),
      keySets: joinLists(
        filters.flatMap(({ keySets }) => keySets),
        collect(routes, ({ keySets }) => keySets),
      ),
      tls,
      clientCerts,
    };
  };
}

/**
 * The listeners that serve, or close their name, by the port that proxies bind; those of the oldest Gateway come
 * first. A name is closed only on ports with TLS that are bound for another reason.
 */
function listenersByPort(
  gateways: readonly PlannedGateway[],
  bindingsOf: ScopeInput["bindingsOf"],
  ingressPorts: ScopeInput["ingressPorts"],
): ReadonlyMap<number, readonly Listener[]> {
  const ports = new Map<number, Listener[]>();
  for (const gateway of gateways) {
    const bound = bindingsOf(gateway);
    for (const listener of listenersOf(gateway)) {
      const port = bound.get(listener.port);
      if (!(listener.serves || listener.closes) || port === undefined) continue;
      const list = ports.get(port);
      if (list === undefined) ports.set(port, [listener]);
      else list.push(listener);
    }
  }
  for (const [port, listeners] of ports) {
    if (ingressPorts.has(port) || !listeners.some(({ closes }) => closes) || listeners.some(servesTls))
      continue;
    const serving = listeners.filter(({ serves }) => serves);
    if (serving.length === 0) ports.delete(port);
    else ports.set(port, serving);
  }
  return new Map([...ports].sort(([a], [b]) => a - b));
}

const servesTls = ({ serves, protocol }: Listener): boolean =>
  serves && protocol !== undefined && familyOf(protocol) === "tls";

/** Returns the authorization of requests to a listener, including listeners of ListenerSets. */
function guardsOf(gateways: readonly PlannedGateway[]): (listener: Listener) => Guard | undefined {
  const byListener = new Map<string, Guard>();
  for (const gateway of gateways) {
    const { guard } = gateway;
    if (guard === undefined) continue;
    for (const { id } of listenersOf(gateway)) byListener.set(id, guard);
  }
  for (const { id } of gateways.flatMap(closedListeners)) byListener.set(id, closedGuard);
  return ({ id }) => byListener.get(id);
}

/** The claims of L4 routes, without those at closed listeners. */
function withoutClosed(
  claims: ScopeInput["l4Claims"],
  gateways: readonly PlannedGateway[],
): ScopeInput["l4Claims"] {
  const closed = gateways.flatMap(closedListeners).filter(({ belowHttp }) => belowHttp);
  if (closed.length === 0) return claims;
  const left = new Map(claims);
  for (const { id } of closed) left.delete(id);
  return left;
}
