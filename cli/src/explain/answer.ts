/** The answer of `explain` as data: the JSON and YAML forms are this value, the text is made from it. */
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import type { Backend, ListenerFilter, Route } from "@svc-gateway/common/ir/route.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { formatPlace } from "@svc-gateway/operator/sources/files/place.ts";
import { unresolvedFilter } from "@svc-gateway/proxy/filters/listener-filters.ts";
import type { TokenDefect } from "@svc-gateway/proxy/auth/token.ts";
import { refusalStatus } from "@svc-gateway/proxy/http/h1/refusal.ts";
import { isHttp1Method } from "@svc-gateway/proxy/message/methods.ts";
import { explainMatch, type ExplainedHost, type Verdict } from "@svc-gateway/proxy/routing/explain.ts";
import { normalisePath } from "@svc-gateway/proxy/routing/normalise-path.ts";
import { emptyPortTable } from "@svc-gateway/proxy/routing/changing-port-table.ts";
import { l4TableKey } from "@svc-gateway/proxy/state/l4-tables.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import { explainAnnotations, type ExplainedAnnotation } from "./annotations.ts";
import {
  describeFilters,
  endpointsOf,
  explainBackends,
  type ExplainedBackend,
  type ExplainedFilter,
} from "./backends.ts";
import { explainClients, type ExplainedClients } from "./clients.ts";
import { compileServing, explainTls, routesOfHost, type ExplainedTls } from "./data-plane.ts";
import { rehearse, type ExplainedReply, type ExplainedUpstreamRequest, type Rehearsal } from "./rehearse.ts";
import type { ExplainedRequest } from "./request.ts";

export type Answer = {
  readonly request: Pick<ExplainedRequest, "method" | "scheme" | "host" | "port" | "path" | "query">;
  /** The status over HTTP/1.1 with `--http1-codec node`, where that knows no such method; absent: the codec makes no difference. */
  readonly http1Status?: number;
  /**
   * `route`: a route takes it, for clients with a certificate only where `clients` says so. `misdirected`: 421, because the
   * connection is for another listener, or verifies no client by the rules of the host or route. `closed`: no client can pass
   * the handshake. `tls-listener`: its server name belongs to a TLS listener of the port. Otherwise what ends
   * it before.
   */
  readonly outcome:
    "route" | "misdirected" | "closed" | "tls-listener" | "no-listener" | "no-certificate" | "no-route";
  readonly listener?: ExplainedListener;
  readonly tls?: ExplainedTls;
  /** What the client and its connection must have; absent: nothing. */
  readonly clients?: ExplainedClients;
  /** The filters of the listener, which run before the route is chosen and may lead to another one; absent: it has none. */
  readonly listenerFilters?: readonly ExplainedListenerFilter[];
  readonly route?: ExplainedRoute;
  /** What the JwtAuths of the route decide about the token; absent: none was given. */
  readonly token?: readonly ExplainedToken[];
  /** The response, or the backend that gives it. */
  readonly reply: ExplainedReply;
  /** The request as backends get it, one for each that gets any. */
  readonly upstream: readonly ExplainedUpstreamRequest[];
  /** Every host that covers the request's, the most specific first, with the result of its routes. */
  readonly hosts: readonly NearHost[];
  /** Hosts of the listener that do not cover the request's, the most similar first, at most ten. */
  readonly otherHosts: readonly string[];
};

/** The decision of one JwtAuth. */
export type ExplainedToken = {
  /** `namespace/name`. */
  readonly jwtAuth: string;
  readonly verdict: "accepted" | "refused" | "unknown";
  /** The code of docs/reference/refusals.md, where it is refused. */
  readonly reason?: TokenDefect;
  /** Why, in one sentence. */
  readonly why: string;
};

/** `localPort` is where connections for the port are accepted. */
export type ExplainedListener = Pick<Listener, "port" | "protocol"> & { readonly localPort: number };

export type RouteName = {
  readonly id: string;
  readonly source: Route["source"];
  /** Where the source is written: `file:line:column`. */
  readonly place?: string;
  readonly match: RouteMatch;
  /** A default backend. */
  readonly isFallback: boolean;
};

export type ExplainedRoute = RouteName & {
  readonly host: string;
  /** In the order in which they run. */
  readonly filters: readonly ExplainedFilter[];
  readonly backends: readonly ExplainedBackend[];
  /** Those of the Ingress that ingress-nginx knows; absent: the source is not read as ingress-nginx reads it. */
  readonly annotations?: readonly ExplainedAnnotation[];
};

/** One that cannot be applied has a status instead, which every request gets. */
export type ExplainedListenerFilter = ExplainedFilter | { readonly status: number };

export type NearHost = {
  readonly host: string;
  readonly group: string;
  /** The owner of the host: `Gateway/namespace/name/listener`, or `ingress`. */
  readonly listener: string;
  readonly outcome: ExplainedHost["outcome"];
  readonly routes: readonly (RouteName & { readonly verdict: Verdict })[];
};

/** Computes the answer with the data plane's own code. */
export function answerRequest(
  asked: ExplainedRequest,
  folder: TranslatedFolder,
  portMap: readonly PortMapping[],
): Answer {
  const { method, scheme, host, port, query } = asked;
  const request = { method, scheme, host, port, path: asked.path, query };
  const serving = compileServing(folder.translation);
  const listener = findListener([scheme], port, serving.listeners, portMap);
  if (listener === undefined) return { request, outcome: "no-listener", ...unanswered };
  const certificates = serving.tls.get(listener.port);
  const isSecure = scheme === "https";
  const below = isSecure
    ? serving.l4.get(l4TableKey("tls", listener.port))?.find(asked.serverName)
    : undefined;
  if (below !== undefined && below.mode !== "http")
    return { request, outcome: "tls-listener", listener, ...unanswered };
  const handshake =
    isSecure && certificates !== undefined
      ? explainTls(certificates, asked.serverName, serving.clientCerts.get(listener.port))
      : undefined;
  const tls = handshake?.tls;
  if (isSecure && tls === undefined) return { request, outcome: "no-certificate", listener, ...unanswered };
  const ofPort = serving.tables.get(listener.port) ?? emptyPortTable;
  const path = normalisePath(asked.rawPath, ofPort.pathLevel(host)) ?? asked.path;
  const { hosts } = explainMatch(ofPort, { ...asked, path });
  const nameOf = createNamer(folder);
  const routesOf = (table: ExplainedHost["table"]): readonly Route[] =>
    routesOfHost(folder.translation, routeKey(table.group, listener.port, table.host));
  const matched = hosts.find(({ outcome }) => outcome === "serves");
  const taken = matched?.candidates.find(({ verdict }) => verdict.kind === "matched");
  const place = taken?.place;
  const clients =
    handshake && explainClients(handshake.policy, [hosts[0]?.table.clients, taken?.route.clients]);
  const found = matched === undefined || place === undefined ? undefined : routesOf(matched.table)[place];
  const before = hosts[0]?.table.filters?.written;
  const isOfOther =
    isSecure &&
    asked.serverName !== "" &&
    asked.serverName !== host &&
    ofPort.isMisdirected(asked.serverName, host);
  const isMisdirected = isOfOther || clients?.need === "misdirected";
  const served = serving.listeners.find(
    (one) => one.port === listener.port && one.protocol === listener.protocol,
  );
  const becomes = outcomeOf(clients, isMisdirected, found !== undefined);
  const { reply, sent } = replyOf(becomes, clients, () => {
    const publicPort = served?.publicPort ?? listener.port;
    return rehearse({
      asked,
      table: ofPort,
      port: listener.port,
      publicPorts: { gateway: publicPort, ingress: publicPort, ...served?.publicPorts },
      features: found?.features,
      hasEndpoints: (name) => endpointsOf(name, folder).length > 0,
      services: (found?.backends ?? []).filter(isAsked).map(({ service }) => service),
    });
  });
  return {
    request: { ...request, path },
    ...(isHttp1Method(method) ? {} : { http1Status: refusalStatus["unknown-method"] }),
    outcome: becomes,
    listener,
    ...(tls === undefined ? {} : { tls }),
    ...(clients === undefined ? {} : { clients }),
    ...(before === undefined ? {} : { listenerFilters: before.flatMap(describeListenerFilter) }),
    ...(found === undefined
      ? {}
      : {
          route: {
            ...nameOf(found),
            host: matched?.table.host.host ?? "",
            filters: describeFilters(found.features),
            backends: explainBackends(found, folder, asked.scheme === "https"),
            ...annotationsOf(found, folder),
          },
        }),
    reply,
    upstream: sent,
    hosts: hosts.map(({ table, outcome, candidates }) => {
      const routes = routesOf(table);
      return {
        host: table.host.host,
        group: table.group,
        listener: table.listener,
        outcome,
        routes: candidates.map((candidate) => ({
          ...nameOf(routes[candidate.place] as Route),
          verdict: candidate.verdict,
        })),
      };
    }),
    otherHosts: findSimilarHosts(
      host,
      listener.port,
      folder,
      new Set(hosts.map(({ table }) => table.host.host)),
    ),
  };
}

const isAsked = ({ weight, status }: Backend): boolean => weight > 0 && status === undefined;

/** For a connection or handshake that is rejected. */
const noReply: ExplainedReply = { by: "none", after: [] };

const unanswered = { reply: noReply, upstream: [], hosts: [], otherHosts: [] } as const;

/** Handshakes are over before there is a request. */
function replyOf(
  outcome: Answer["outcome"],
  clients: ExplainedClients | undefined,
  ask: () => Rehearsal,
): Rehearsal {
  if (outcome === "closed") return { reply: noReply, sent: [] };
  if (outcome === "misdirected") {
    const by = clients?.need === "misdirected" ? "client-certificates" : "gateway";
    return { reply: { by, status: 421, after: [] }, sent: [] };
  }
  return ask();
}

function outcomeOf(
  clients: ExplainedClients | undefined,
  isMisdirected: boolean,
  isServed: boolean,
): Answer["outcome"] {
  if (clients?.need === "closed") return "closed";
  if (isMisdirected) return "misdirected";
  return isServed ? "route" : "no-route";
}

const maxOtherHosts = 10;

/** By how many labels they have in common with the host, counted from the right, then by name. */
function findSimilarHosts(
  host: string,
  port: number,
  { translation }: TranslatedFolder,
  covering: ReadonlySet<string>,
): readonly string[] {
  const labels = host.split(".").toReversed();
  const likeness = (other: string): number => {
    const others = other.split(".").toReversed();
    const difference = labels.findIndex((label, index) => label !== others[index]);
    return difference === -1 ? labels.length : difference;
  };
  const served = translation.routing.hosts.filter(({ ports }) => ports.includes(port));
  return [...new Set(served.map((one) => one.host.host))]
    .filter((other) => !covering.has(other))
    .sort((a, b) => likeness(b) - likeness(a) || (a < b ? -1 : 1))
    .slice(0, maxOtherHosts);
}

/** The listener of one of the protocols that a URL reaches: by the port it accepts on, or by its own. */
export function findListener(
  protocols: readonly Listener["protocol"][],
  port: number,
  listeners: readonly Listener[],
  portMap: readonly PortMapping[],
): ExplainedListener | undefined {
  const localPorts = new Map(portMap.map(({ listenerPort, localPort }) => [listenerPort, localPort]));
  const candidates = listeners
    .filter(({ protocol }) => protocols.includes(protocol))
    .map(({ port: own, protocol }) => ({ port: own, protocol, localPort: localPorts.get(own) ?? own }));
  return (
    candidates.find((listener) => localPorts.has(listener.port) && listener.localPort === port) ??
    candidates.find((listener) => listener.localPort === port) ??
    candidates.find((listener) => listener.port === port)
  );
}

/** Finds the places of the objects that routes come from. */
export function createPlacer({
  state,
  isLive,
}: TranslatedFolder): (source: Route["source"]) => string | undefined {
  if (isLive === true) return () => undefined;
  const places = new Map(
    [...state.objects.values()].map(({ ref, place }) => [formatRef(ref), formatPlace(place)]),
  );
  return (source) => places.get(formatRef(source));
}

/** Names routes with the place of the object that they come from. */
function createNamer(folder: TranslatedFolder): (route: Route) => RouteName {
  const placeOf = createPlacer(folder);
  return ({ id, source, match, fallback }) => {
    const place = placeOf(source);
    return { id, source, ...(place === undefined ? {} : { place }), match, isFallback: fallback === true };
  };
}

function annotationsOf({ source }: Route, folder: TranslatedFolder): Pick<ExplainedRoute, "annotations"> {
  const annotations = explainAnnotations(source, folder);
  return annotations === undefined ? {} : { annotations };
}

const describeListenerFilter = ({ features }: ListenerFilter): readonly ExplainedListenerFilter[] =>
  features === undefined ? [{ status: unresolvedFilter.status }] : describeFilters(features);
