/** Plans one Ingress, given its class and the Services that it names. */
import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { ObjectRef } from "../../api/object.ts";
import { attempt } from "../attempt.ts";
import { resolveServicePort, unresolvedBackend, type EndpointRef } from "../backends/service-port.ts";
import type { KeySetRef } from "../credentials/remote-key-sets.ts";
import { routesTooLarge } from "../diagnostics/sizes.ts";
import type { AuthTls } from "../features/auth-tls.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import type { View } from "../incremental/view.ts";
import type { NginxReport } from "../ingress-nginx/report.ts";
import type { ScopeSize } from "../size/object-size.ts";
import { areTooLarge, hostOverheadBytes, maxRoutesBytes, sizeOfRoutes } from "../size/route-size.ts";
import { readAnnotations } from "./annotations.ts";
import type { CanaryClaim, CanaryRule } from "./canary.ts";
import type { HostClaim, RouteClaim } from "./claims.ts";
import type { ClassInfo } from "./classes.ts";
import { clientRulesOf } from "./client-rules.ts";
import { anyHost } from "./host.ts";
import { parseIngress, pathField, type BackendRef, type ParsedIngress } from "./parse.ts";
import { anyPath } from "./path.ts";
import { findPatternMistakes } from "./pattern-findings.ts";
import { expandRewriteTarget } from "./rewrite-target.ts";
import { readAuthTls } from "./tls.ts";

export type IngressPlan = {
  readonly claims: readonly HostClaim[];
  readonly endpointRefs: readonly EndpointRef[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /** The resources that routes refer to besides endpoint sets. Several Ingresses can refer to the same one. */
  readonly resources: readonly Resource[];
  readonly keySets: readonly KeySetRef[];
  /** The size of the Ingress in a snapshot, for each level of leaving parts of it out. */
  readonly bytes: ScopeSize["bytes"];
  readonly isTooLarge: boolean;
  /** The paths at which it receives a part of another Ingress's requests; absent if it is not a canary. */
  readonly canaries?: readonly CanaryClaim[];
  /** The outcomes of its ingress-nginx annotations; absent if it is not read in that dialect. */
  readonly nginx?: NginxReport;
};

/** The inputs of the plan of an Ingress, besides the Ingress itself. */
export type PlanContext = {
  readonly info: ClassInfo;
  readonly view: View;
  readonly allowExternalName: boolean;
  readonly httpsPublicPort: number;
  /** The route of `--ingress-default-backend`. */
  readonly lastResort: Route | undefined;
  /** The number of ports that serve it. */
  readonly ports: number;
};

/** Plans an Ingress. Never throws: an Ingress that triggers a bug is set aside with an `InternalError`. */
export function planIngress(ingress: ObjectOf<"Ingress">, context: PlanContext): IngressPlan {
  return attempt(ingress, () => plan(ingress, context), nothingPlanned);
}

/** The plan of an Ingress that is set aside, without its findings. */
export const nothingPlanned: Omit<IngressPlan, "diagnostics"> = {
  claims: [],
  endpointRefs: [],
  events: [],
  resources: [],
  keySets: [],
  bytes: [0, 0, 0],
  isTooLarge: false,
};

function plan(ingress: ObjectOf<"Ingress">, context: PlanContext): IngressPlan {
  const annotations = readAnnotations(ingress, context.info, context);
  const parsed = parseIngress(ingress, annotations.useRegex);
  const backends = createBackendResolver(parsed, context);
  if (annotations.canary !== undefined) return planCanary(parsed, annotations, annotations.canary, backends);
  const clients = readAuthTls(ingress, context.view);
  const rules = clients && clientRulesOf(parsed.ref, clients);
  const source = { kind: "Ingress", name: parsed.ref.name, namespace: parsed.namespace };
  const wanted = claimHosts(parsed, annotations.pathLevel, backends.resolve, (id, parts) => {
    const { path } = parts.match;
    const features =
      path.type === "regex"
        ? expandRewriteTarget(annotations.features, annotations.rewriteTarget, path.value)
        : annotations.features;
    return {
      ...(!context.info.accessLog && { accessLog: false }),
      ...(context.info.observation && { observation: context.info.observation }),
      backends: parts.backends,
      ...(rules && { clients: rules }),
      ...(parts.fallback && { fallback: true }),
      ...(features && { features }),
      id: `ingress/${parsed.age.key}:${id}`,
      match: parts.match,
      source,
    };
  });
  const isClosed = hasNoHandshake(clients, parsed);
  const patterns = findPatternMistakes(ingress, parsed, annotations);
  const planned = finishPlan(parsed.ref, isClosed ? wanted.map(closeClaim) : wanted, context);
  return {
    ...planned,
    endpointRefs: [...backends.endpointRefs, ...annotations.endpointRefs],
    diagnostics: [
      ...parsed.diagnostics,
      ...annotations.diagnostics,
      ...patterns.diagnostics,
      ...backends.diagnostics,
      ...planned.diagnostics,
    ],
    events: [...annotations.events, ...patterns.events],
    resources: annotations.resources,
    keySets: annotations.keySets,
  };
}

/** Whether clients must be refused in handshakes, but no TLS host belongs to the Ingress. */
export const hasNoHandshake = (clients: AuthTls | undefined, { tls }: ParsedIngress): boolean =>
  clients !== undefined && clients.byRequest === undefined && tls.every(({ hosts }) => hosts.length === 0);

/** Plans a canary. Only its paths, backends and rule count. */
function planCanary(
  { paths, ref: owner, age, diagnostics: found }: ParsedIngress,
  { diagnostics, events }: Pick<IngressPlan, "diagnostics" | "events">,
  rule: CanaryRule,
  backends: ReturnType<typeof createBackendResolver>,
): IngressPlan {
  const canaries = paths.flatMap(({ host, written, pathType, rule: at, path, backend: reference }) =>
    backends.resolve(reference).map((backend): CanaryClaim => ({
      ...{ host, owner, age, written, pathType, backend, rule },
      field: pathField(at, path),
      endpointRef: backends.endpointRefs.find(({ name }) => name === backend.endpoints),
    })),
  );
  return {
    ...nothingPlanned,
    canaries,
    endpointRefs: backends.endpointRefs,
    diagnostics: [...found, ...diagnostics, ...backends.diagnostics],
    events,
  };
}

/** Returns the claims with their sizes. The claims of an Ingress with too many routes are closed. */
export function finishPlan(
  object: ObjectRef,
  wanted: readonly HostClaim[],
  { ports }: Pick<PlanContext, "ports">,
): Pick<IngressPlan, "claims" | "diagnostics" | "bytes" | "isTooLarge"> {
  const isTooLarge = areTooLarge(routesOf(wanted), ports);
  const claims = isTooLarge ? wanted.map(closeClaim) : wanted;
  const diagnostics = isTooLarge ? [routesTooLarge({ object }, maxRoutesBytes, 503)] : [];
  return { claims, diagnostics, bytes: bytesOf(claims, ports), isTooLarge };
}

/**
 * The size of claims at each level of being left out. The levels of a small Ingress hardly differ, and nearly
 * all Ingresses are small, so the size at level 1 is then not computed.
 */
function bytesOf(claims: readonly HostClaim[], ports: number): ScopeSize["bytes"] {
  const hosts = claims.length * hostOverheadBytes * ports;
  const full = hosts + sizeOfRoutes(routesOf(claims)) * ports;
  if (full < smallBytes) return [full, full, Math.min(full, hosts)];
  return [full, hosts + sizeOfRoutes(routesOf(claims.map(closeClaim))) * ports, hosts];
}

const smallBytes = 16 * 1024;

const routesOf = (claims: readonly HostClaim[]): readonly Route[] =>
  claims
    .flatMap(({ routes, fallback, rest }) => [
      ...routes,
      ...(fallback ? [fallback] : []),
      ...(rest ? [rest] : []),
    ])
    .map(({ route }) => route);

/**
 * Returns the same hosts and paths without backends and features: a request must never find a route open that
 * an Ingress protects.
 */
export const closeClaim = ({
  routes,
  fallback,
  rest,
  appRoot: _appRoot,
  ...claim
}: HostClaim): HostClaim => ({
  ...claim,
  routes: routes.map(unserved),
  fallback: fallback && unserved(fallback),
  ...(rest && { rest: unserved(rest) }),
});

const unserved = ({ route, featuresOn: _featuresOn, ...claim }: RouteClaim): RouteClaim => {
  const { features: _, clients: __, affinity: ___, choices: ____, ...rest } = route;
  return { ...claim, route: { ...rest, backends: [unresolvedBackend("")] } };
};

type RouteParts = Pick<Route, "match" | "backends" | "fallback">;
type ToRoute = (id: string, parts: RouteParts) => Route;
type ToBackends = (reference: BackendRef | undefined) => readonly Backend[];

/**
 * The claims on the hosts of the rules. A default backend applies to each of them and to the catch-all host,
 * which the Ingress then claims as well.
 */
function claimHosts(
  parsed: ParsedIngress,
  pathLevel: PathLevel | undefined,
  toBackends: ToBackends,
  toRoute: ToRoute,
): readonly HostClaim[] {
  const routesByHost = new Map<string, RouteClaim[]>(parsed.hosts.map(({ host }) => [host, []]));
  for (const { host, match, rule, path, written, pathType, backend } of parsed.paths) {
    const route = toRoute(`${rule}.${path}`, { match: { path: match }, backends: toBackends(backend) });
    const type = pathType !== undefined && { pathType };
    routesByHost.get(host.host)?.push({ route, written, ...type, field: pathField(rule, path) });
  }
  const fallback = parsed.defaultBackend && {
    route: toRoute("default", {
      match: { path: anyPath },
      backends: toBackends(parsed.defaultBackend.backend),
      fallback: true,
    }),
    written: anyPath.value,
    field: "spec.defaultBackend",
  };
  const addsAnyHost = fallback !== undefined && !routesByHost.has(anyHost.host);
  return [...parsed.hosts, ...(addsAnyHost ? [anyHost] : [])].map((host) => ({
    host,
    owner: parsed.ref,
    age: parsed.age,
    pathLevel,
    routes: routesByHost.get(host.host) ?? [],
    fallback,
  }));
}

/** The key of a Service port. Names of Services contain neither of the separators. */
const portKey = (service: string, port: BackendRef["port"]): string =>
  "number" in port ? `${service}:${port.number}` : `${service}/${port.name}`;

/** Resolves each Service port once, regardless of how many rules name it. */
export function createBackendResolver(
  { ref, namespace }: Pick<ParsedIngress, "ref" | "namespace">,
  { view, allowExternalName }: Pick<PlanContext, "view" | "allowExternalName">,
  { acceptsTargetPort = false }: { readonly acceptsTargetPort?: boolean } = {},
): {
  readonly resolve: ToBackends;
  readonly endpointRefs: readonly EndpointRef[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const known = new Map<string, readonly Backend[]>();
  const endpointRefs: EndpointRef[] = [];
  const diagnostics: Diagnostic[] = [];
  const nowhere = [unresolvedBackend("")];
  const resolve: ToBackends = (reference) => {
    if (reference === undefined) return nowhere;
    const { service: name, port, field } = reference;
    const key = portKey(name, port);
    const hit = known.get(key);
    if (hit !== undefined) return hit;
    const place = { object: ref, field };
    const address = { namespace, name, port, acceptsTargetPort };
    const resolved = resolveServicePort(address, place, view.lookup, allowExternalName);
    if (resolved.endpointRef !== undefined) endpointRefs.push(resolved.endpointRef);
    if (resolved.diagnostic !== undefined) diagnostics.push(resolved.diagnostic);
    const backends = [resolved.backend];
    known.set(key, backends);
    return backends;
  };
  return { resolve, endpointRefs, diagnostics };
}
