import { formatRef } from "@svc-gateway/operator/api/object.ts";
import { isRest } from "@svc-gateway/operator/translate/ingress/claims.ts";
import type { Verdict as CandidateVerdict } from "@svc-gateway/proxy/routing/explain.ts";
import { alignColumns } from "../text/columns.ts";
import { describePath } from "../text/path.ts";
import type { Paint } from "../text/paint.ts";
import type { Answer, ExplainedRoute, NearHost, RouteName } from "./answer.ts";
import type { ExplainedBackend, ExplainedFilter } from "./backends.ts";
import { describeAnnotations } from "./annotations.ts";
import { describeClients } from "./clients.ts";
import type { ExplainedTls } from "./data-plane.ts";
import { describeToken } from "./token.ts";
import type { ExplainedReply, ExplainedUpstreamRequest } from "./rehearse.ts";

type Step = readonly [name: string, lines: readonly string[]];

/** Formats steps with their names on the left; those without lines are omitted. */
export const formatSteps = (steps: readonly Step[], paint: Paint): readonly string[] =>
  steps
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([name, lines]) =>
      lines.map((line, index) => `  ${paint.bold((index === 0 ? name : "").padEnd(9))} ${line}`),
    );

/** Formats the answer as text: the steps of the request in order, then the hosts and routes that do not take it. */
export function formatAnswer(answer: Answer, paint: Paint): string {
  const { method, scheme, host, path, query } = answer.request;
  const passed = describePassed(answer, paint);
  return [
    `${method} ${scheme}://${host}${path}${query}`,
    ...formatSteps(describeSteps(answer), paint),
    ...(passed.length === 0 ? [] : ["", paint.bold("Passed over"), ...passed]),
    "",
  ].join("\n");
}

/** The steps of the request in order; those without lines do not apply. */
export function describeSteps(answer: Answer): readonly Step[] {
  const { listener, tls, route } = answer;
  return [
    ["listener", listener === undefined ? [] : [describeListener(listener)]],
    ["TLS", tls === undefined ? [] : describeTls(tls)],
    ["first", describeListenerFilters(answer)],
    ["host", route === undefined ? [] : [route.host]],
    ["route", route === undefined ? [] : describeRoute(route)],
    ["filters", route === undefined ? [] : describeFilters(route.filters)],
    ["token", describeToken(answer)],
    ["backend", route === undefined || needsNone(answer) ? [] : describeBackends(route)],
    ["nginx", describeAnnotations(route?.annotations ?? [])],
    ["request", answer.upstream.flatMap((sent) => describeSent(sent, answer.upstream.length > 1))],
    ["result", [...describeResult(answer), ...describeHttp1(answer)]],
  ];
}

/** The hosts and routes that do not take the request, and why. */
export const describePassed = (answer: Answer, paint: Paint): readonly string[] => [
  ...answer.hosts.flatMap((near, index) => describeHost(near, answer.hosts.slice(0, index), paint)),
  ...describeOtherHosts(answer),
];

/** Whether the route needs no backend because a filter answers; other requests get an error for the lack of one. */
const needsNone = ({ route, reply }: Answer): boolean =>
  route?.backends.length === 0 && reply.by !== "gateway";

/** Describes the request as the backend receives it. */
const describeSent = (
  { service, method, target, host, headers }: ExplainedUpstreamRequest,
  isOneOfMany: boolean,
): readonly string[] => [
  `${method} ${target}${isOneOfMany ? ` to Service ${service}` : ""}`,
  `  Host: ${host}`,
  ...headers.map(({ name, value }) => `  ${name}: ${value}`),
];

export const describeListener = ({ port, protocol, localPort }: NonNullable<Answer["listener"]>): string =>
  `${port} ${protocol}${localPort === port ? "" : `, accepted on port ${localPort}`}`;

export const describeTls = ({ serverName, bucket, host, certificates }: ExplainedTls): readonly string[] => [
  `${serverName === "" ? "no server name" : `server name ${serverName}`}: ${bucket} entry ${host}`,
  ...certificates.map(
    ({ names, notAfter, issuer }) => `certificate for ${names.join(", ")} by ${issuer}, until ${notAfter}`,
  ),
];

/** Describes filters that run on the request as received; the steps below ignore the changes that they would make. */
const describeListenerFilters = ({ listenerFilters = [] }: Answer): readonly string[] =>
  listenerFilters.map((filter, index) =>
    "status" in filter
      ? `${index + 1}. cannot be followed: answered ${filter.status}`
      : `${index + 1}. ${filter.name} ${JSON.stringify(filter.settings)}`,
  );

const describeRoute = (route: ExplainedRoute): readonly string[] => [
  describeMatch(route),
  `${route.id} of ${formatRef(route.source)}${route.place === undefined ? "" : ` at ${route.place}`}`,
];

/** Describes the match of a route: `Prefix /a`, and the other conditions. */
function describeMatch({ id, match, isFallback: fallback }: RouteName): string {
  if (fallback) return isRest({ id, fallback }) ? "a path that no rule names" : "default backend";
  const values = [...(match.headers ?? []), ...(match.query ?? [])];
  return [
    describePath(match.path),
    ...(match.method === undefined ? [] : [`method ${match.method}`]),
    ...values.map(({ name, type, value }) => `${name} ${type === "exact" ? "=" : "~"} ${value}`),
  ].join(", ");
}

const describeFilters = (filters: readonly ExplainedFilter[]): readonly string[] =>
  filters.length === 0
    ? ["none"]
    : filters.map(({ name, settings }, index) => `${index + 1}. ${name} ${JSON.stringify(settings)}`);

const describeBackends = ({ backends }: ExplainedRoute): readonly string[] =>
  backends.length === 0 ? ["none: answered 500"] : backends.flatMap(describeBackend);

function describeBackend({
  service,
  share,
  protocol,
  tls,
  endpoints,
  balancing,
  status,
  filters,
}: ExplainedBackend): readonly string[] {
  const name = service === "" ? "no Service" : `Service ${service}`;
  const head = share === 100 ? name : `${name}, ${share} %`;
  if (status !== undefined) return [`${head}: answered ${status}`];
  const version = protocol === "http1" ? "HTTP/1.1" : "HTTP/2";
  return [
    `${head} in ${version}${tls === undefined ? "" : ` over TLS, by ${tls}`}`,
    ...filters.map((filter) => `  ${filter.name} ${JSON.stringify(filter.settings)}`),
    endpoints.length === 0 ? "  no endpoint: answered 503" : `  ${endpoints.join(", ")}`,
    ...(balancing === undefined ? [] : [`  chosen by ${balancing}`]),
  ];
}

function describeResult(answer: Answer): readonly string[] {
  const { clients, outcome } = answer;
  const isOurs =
    outcome === "route" || outcome === "no-route" || outcome === "closed" || clients?.need === "misdirected";
  // Only a request that nothing rejects is "sent to" a backend, so that scripts can search for it (docs/cli.md,
  // "explain").
  return clients !== undefined && isOurs
    ? describeClients(clients, () => describeOutcome(answer).replace(/^sent to/, "passed on to"))
    : [describeOutcome(answer)];
}

function describeOutcome({ outcome, request, route, reply, listenerFilters = [] }: Answer): string {
  const refusing = listenerFilters.find((filter) => "status" in filter);
  if (refusing !== undefined)
    return `a filter of the listener cannot be followed: answered ${refusing.status}`;
  switch (outcome) {
    case "no-listener":
      return `no listener serves ${request.scheme} on port ${request.port}: the connection is refused`;
    case "tls-listener":
      return "the server name belongs to a TLS listener: ask with a tls URL";
    case "no-certificate":
      return "no certificate for this server name: the handshake is refused";
    case "closed":
      return "every handshake is refused";
    case "misdirected":
      return "answered 421: the server name belongs to another listener than the host";
    case "no-route":
      return reply.by === "gateway" ? `no route: answered ${reply.status}` : describeReply(reply);
    case "route":
      return reply.by === "gateway"
        ? describeGatewayReply(reply, route?.backends ?? [])
        : describeReply(reply);
  }
}

/** Describes the answer of Node's codec, which is not the default, if the steps above apply to HTTP/2 only. */
const describeHttp1 = ({ request: { method }, http1Status }: Answer): readonly string[] =>
  http1Status === undefined
    ? []
    : [
        `with --http1-codec node answered ${http1Status} over HTTP/1.1 before all this: Node does not know the method ${method}`,
      ];

function describeReply({ by, status, location, after }: ExplainedReply): string {
  if (by === "backend") return unlessRefused("sent to the backend", after);
  return unlessRefused(
    location === undefined ? `answered ${status} by ${by}` : `redirected with ${status} to ${location}`,
    after,
  );
}

const unlessRefused = (what: string, after: readonly string[]): string =>
  after.length === 0 ? what : `${what}, unless refused by ${after.join(", ")}`;

/** Describes the gateway's own response when no backend is available. */
function describeGatewayReply(
  { status, after }: ExplainedReply,
  backends: readonly ExplainedBackend[],
): string {
  const asked = backends.filter(({ share }) => share > 0);
  if (asked.length === 0)
    return unlessRefused(`no backend has a weight: answered ${status} by the gateway`, after);
  const statuses = new Set(
    asked.map(({ status: own, endpoints }) => own ?? (endpoints.length === 0 ? 503 : status)),
  );
  return unlessRefused(`answered ${[...statuses].join(" or ")} by the gateway`, after);
}

/** Describes a host and its routes that do not take the request. `before` are the hosts with precedence over it. */
function describeHost(near: NearHost, before: readonly NearHost[], paint: Paint): readonly string[] {
  const { host, outcome, routes } = near;
  const name = `host ${host}${before.length === 0 && outcome === "serves" ? "" : ownerOf(near)}`;
  if (outcome === "not-asked") return [`  ${name}: not asked, ${whyNotAsked(near, before)}`];
  const others = routes.filter(({ verdict }) => verdict.kind !== "matched");
  if (others.length === 0) return outcome === "serves" ? [] : [`  ${name}: has no route`];
  const rows = alignColumns(
    others.map((route) => [
      `    ${describeMatch(route)}`,
      describeVerdict(route.verdict),
      paint.dim(route.id),
    ]),
  );
  return [`  ${name}`, ...rows];
}

/** The owner of a host; empty for Ingresses, which share one listener. */
const ownerOf = ({ listener }: NearHost): string => {
  const named = describeListenerId(listener);
  return named === undefined ? "" : ` of ${named}`;
};

/** Describes the id of a listener: `listener http of Gateway default/gw`. */
function describeListenerId(id: string): string | undefined {
  const [kind, namespace, name, listener] = id.split("/");
  return listener === undefined ? undefined : `listener ${listener} of ${kind} ${namespace}/${name}`;
}

/** Explains why a host is not considered: requests of a host never go to the hosts of another listener. */
function whyNotAsked({ host, listener }: NearHost, before: readonly NearHost[]): string {
  const [first] = before;
  const serving = before.find(({ outcome }) => outcome === "serves");
  if (first === undefined || (serving !== undefined && serving.listener === listener))
    return "a more specific host decides";
  const owner = describeListenerId(first.listener) ?? "the Ingresses";
  return first.host === host
    ? `on this port the host belongs to ${owner}`
    : `requests for ${first.host} belong to ${owner}`;
}

/** Lists other hosts, to help find the intended one, only if no host covers that of the request. */
const describeOtherHosts = ({ request, hosts, otherHosts }: Answer): readonly string[] =>
  hosts.length > 0 || otherHosts.length === 0
    ? []
    : otherHosts.map((host) => `  host ${host}: does not cover ${request.host}`);

function describeVerdict(verdict: CandidateVerdict): string {
  switch (verdict.kind) {
    case "matched":
      return "taken";
    case "shadowed":
      return "would match, but comes after the route";
    case "failed":
      return verdict.on === "path"
        ? "another path"
        : `${verdict.on}${verdict.name === "" ? "" : ` ${verdict.name}`} is not ${verdict.value}`;
  }
}
