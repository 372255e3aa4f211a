/** The answer of `explain` as data: the JSON and YAML forms are this value, and the text is generated from it. */
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
  /** The status over HTTP/1.1 with `--http1-codec node`; only present if that codec does not know the method. */
  readonly http1Status?: number;
  /**
   * `route`: a route takes the request, possibly only for clients with a certificate (`clients`). `misdirected`: 421,
   * because the connection is for another listener, or does not verify clients by the rules of the host or route.
   * `closed`: no client can pass the handshake. `tls-listener`: the server name belongs to a TLS listener of the port.
   * The others name what is missing.
   */
  readonly outcome:
    "route" | "misdirected" | "closed" | "tls-listener" | "no-listener" | "no-certificate" | "no-route";
  readonly listener?: ExplainedListener;
  readonly tls?: ExplainedTls;
  /** The requirements for the client and its connection; absent if there are none. */
  readonly clients?: ExplainedClients;
  /** The filters of the listener, which run before the route is chosen and can affect it; absent if there are none. */
  readonly listenerFilters?: readonly ExplainedListenerFilter[];
  readonly route?: ExplainedRoute;
  /** The decisions of the route's JwtAuths about the token; absent if none was given. */
  readonly token?: readonly ExplainedToken[];
  /** The response, or the backend that produces it. */
  readonly reply: ExplainedReply;
  /** The requests to backends, one for each backend that gets any. */
  readonly upstream: readonly ExplainedUpstreamRequest[];
  /** Every host that covers that of the request, the most specific first, with the results of its routes. */
  readonly hosts: readonly NearHost[];
  /** Hosts of the listener that do not cover that of the request, the most similar first, at most ten. */
  readonly otherHosts: readonly string[];
};

/** The decision of one JwtAuth. */
export type ExplainedToken = {
  /** `namespace/name`. */
  readonly jwtAuth: string;
  readonly verdict: "accepted" | "refused" | "unknown";
  /** The code of the refusal (docs/reference/refusals.md), if the token is refused. */
  readonly reason?: TokenDefect;
  /** The reason for the verdict, in one sentence. */
  readonly why: string;
};

/** A listener; `localPort` is the port on which its connections are accepted. */
export type ExplainedListener = Pick<Listener, "port" | "protocol"> & { readonly localPort: number };

export type RouteName = {
  readonly id: string;
  readonly source: Route["source"];
  /** The place of the source: `file:line:column`. */
  readonly place?: string;
  readonly match: RouteMatch;
  /** Whether the route is a default backend. */
  readonly isFallback: boolean;
};

export type ExplainedRoute = RouteName & {
  readonly host: string;
  /** The filters, in the order in which they run. */
  readonly filters: readonly ExplainedFilter[];
  readonly backends: readonly ExplainedBackend[];
  /** The annotations of ingress-nginx on the Ingress; absent if it is not read in the dialect of ingress-nginx. */
  readonly annotations?: readonly ExplainedAnnotation[];
};

/** A filter of the listener. One that cannot be applied has the status with which every request is answered. */
export type ExplainedListenerFilter = ExplainedFilter | { readonly status: number };

export type NearHost = {
  readonly host: string;
  readonly group: string;
  /** The owner of the host: `Gateway/namespace/name/listener`, or `ingress`. */
  readonly listener: string;
  readonly outcome: ExplainedHost["outcome"];
  readonly routes: readonly (RouteName & { readonly verdict: Verdict })[];
};

/** Computes the answer by the code of the data plane. */
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

/** The reply for a rejected connection or handshake. */
const noReply: ExplainedReply = { by: "none", after: [] };

const unanswered = { reply: noReply, upstream: [], hosts: [], otherHosts: [] } as const;

/** The reply for an outcome. `ask` rehearses the request, unless the handshake or connection is already rejected. */
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

/** Finds other hosts, sorted by the number of labels in common with the host, counted from the right, then by name. */
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

/** Finds the listener of one of the protocols for the port of a URL: by the port it accepts on, or by its own port. */
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

/** Creates a function that returns the place of the object from which a route comes. */
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

/** Creates a function that describes a route by its id, match, and the place of its source. */
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
