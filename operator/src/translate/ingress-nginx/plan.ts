/** Plans one Ingress in the dialect of ingress-nginx. See docs/ingress-nginx.md. */
import { annotationKey, annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import type { Redirect } from "@svc-gateway/common/features/redirect.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import { annotations as allAnnotations, type RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { attempt } from "../attempt.ts";
import { unresolvedBackend } from "../backends/service-port.ts";
import { catchAllRefused, noEffect, servedDifferently } from "../diagnostics/ingress-nginx.ts";
import type { AnnotationReader, ClassDefaults } from "../features/annotation-reader.ts";
import { hasOwnValue } from "../features/annotation-reader.ts";
import { readAnnotations } from "../ingress/annotations.ts";
import type { CanaryClaim, CanaryRule } from "../ingress/canary.ts";
import { restPart, type HostClaim, type RouteClaim } from "../ingress/claims.ts";
import { clientRulesOf } from "../ingress/client-rules.ts";
import { anyHost } from "../ingress/host.ts";
import { parseIngress, pathField, type ParsedIngress } from "../ingress/parse.ts";
import { anyPath } from "../ingress/path.ts";
import {
  closeClaim,
  createBackendResolver,
  finishPlan,
  hasNoHandshake,
  nothingPlanned,
  type IngressPlan,
  type PlanContext,
} from "../ingress/plan.ts";
import { expandRewriteTarget } from "../ingress/rewrite-target.ts";
import { readAuthTls } from "../ingress/tls.ts";
import { readCanary } from "./canary.ts";
import { isWritten, type NginxClass } from "./class.ts";
import { slugOfAnnotation } from "../features/index.ts";
import { isChallenge } from "./exempt-paths.ts";
import { groups, groupsOfCanary } from "./groups/index.ts";
import type { GroupContext, GroupOutput, NginxPath } from "./groups/group.ts";
import type { HostFacts, HostWishes } from "./host-facts.ts";
import { isCanary } from "./is-canary.ts";
import { joinFeatures } from "./join-features.ts";
import type { RegexPath } from "./regex-path.ts";
import { openNginxAnnotations, type NginxAnnotations, type OwnNames } from "./reader.ts";

/** Plans an Ingress. Never throws: an Ingress that triggers a bug is set aside with an `InternalError`. */
export const planNginxIngress = (
  ingress: ObjectOf<"Ingress">,
  nginx: NginxClass,
  context: PlanContext,
): IngressPlan => attempt(ingress, () => plan(ingress, nginx, context), nothingPlanned);

function plan(ingress: ObjectOf<"Ingress">, nginx: NginxClass, context: PlanContext): IngressPlan {
  const { info, view } = context;
  const ownOfAll = readAnnotations(ingress, info, context);
  const names = ownNamesOf(ingress, info.defaults, ownOfAll.features);
  const annotations = openNginxAnnotations(ingress, nginx, names);
  const defaults = info.defaults && withoutNames(info.defaults, annotations.replaced);
  const own =
    defaults === info.defaults ? ownOfAll : readAnnotations(ingress, { ...info, defaults }, context);
  const parsed = parseIngress(ingress, own.useRegex, true);
  const backends = createBackendResolver(parsed, context, { acceptsTargetPort: true });
  const collected = collectOutputs(ingress, nginx, context, annotations, own.read);
  const clients = readAuthTls(ingress, view);
  const rules = clients && clientRulesOf(parsed.ref, clients);
  const source = { kind: "Ingress", name: parsed.ref.name, namespace: parsed.namespace };
  // Sizes are counted with the features of a host with TLS, which has the most.
  const assumed: HostFacts = { hasTls: true, ownerNamespace: parsed.namespace };

  const regexOf = (path: NginxPath): RegexPath | undefined => {
    for (const { asRegex } of collected.outputs) if (asRegex !== undefined) return asRegex(path);
    return undefined;
  };
  const toRoute = (id: string, path: NginxPath): Omit<RouteClaim, "field"> => {
    const ofOwn =
      path.match.type === "regex"
        ? expandRewriteTarget(own.features, own.rewriteTarget, path.match.value)
        : own.features;
    const ofPath = joinAll(collected.outputs.map((one) => joinFeatures(one.features, one.ofPath?.(path))));
    const featuresOn = (facts: HostFacts): RouteFeatures | undefined =>
      joinFeatures(
        joinFeatures(ofPath, joinAll(collected.outputs.map((one) => one.onHost?.(path, facts)))),
        ofOwn,
      );
    const features = featuresOn(assumed);
    const route: Route = {
      ...(!info.accessLog && { accessLog: false }),
      ...(info.observation && { observation: info.observation }),
      backends: changeBackends(collected.outputs, backends.resolve(path.backend), path),
      ...(rules && { clients: rules }),
      ...(path.isDefaultBackend && { fallback: true }),
      ...(features && { features }),
      id: `ingress/${parsed.age.key}:${id}`,
      match: { path: path.match },
      source,
    };
    const changed = collected.outputs.reduce((before, one) => one.route?.(before, path) ?? before, route);
    const asRegex = path.match.type === "regex" ? undefined : regexOf(path);
    return {
      route: changed,
      written: path.written,
      ...(path.pathType !== undefined && { pathType: path.pathType }),
      featuresOn,
      ...(asRegex && { asRegex }),
      ...(isChallenge(path, ingress) && { isChallenge: true }),
    };
  };

  const isClosed = annotations.isClosed() || hasNoHandshake(clients, parsed);
  const rule = readCanary(annotations.read, own.read, annotations.say.ignore);
  if (rule !== undefined) {
    return {
      ...nothingPlanned,
      endpointRefs: backends.endpointRefs,
      canaries: canariesOf(parsed, rule, backends, collected.outputs),
      diagnostics: [
        ...parsed.diagnostics,
        ...own.diagnostics,
        ...annotations.diagnostics,
        ...backends.diagnostics,
      ],
      events: [...own.events, ...annotations.events],
      nginx: { ...annotations.report(), unprotectedPaths: 0 },
    };
  }
  const asked = claimHosts(parsed, { pathLevel: own.pathLevel }, toRoute);
  const refusesAnyHost = nginx.settings.disableCatchAll && asked.some(({ host }) => host.kind === "any");
  const wanted = refusesAnyHost ? asked.filter(({ host }) => host.kind !== "any") : asked;
  const wishes: HostWishes = Object.assign({}, ...collected.outputs.map(({ host }) => host));
  const appRootOf = ({ host }: HostClaim): RouteClaim | undefined =>
    wishes.appRoot && withRedirect(toRoute("app-root", rootOf(host)), wishes.appRoot);
  const restOf = ({ host, fallback }: HostClaim): RouteClaim | undefined =>
    host.kind === "any" || fallback !== undefined
      ? undefined
      : withoutService(toRoute(restPart, everyPathOf(host, undefined)), context.lastResort);
  const claims = wanted.map((claim) => {
    const appRoot = appRootOf(claim);
    const rest = restOf(claim);
    return { ...claim, nginx: wishes, ...(appRoot && { appRoot }), ...(rest && { rest }) };
  });
  const unprotectedPaths =
    annotations.isUnprotected() && !isClosed
      ? claims.reduce((sum, { routes, fallback }) => sum + routes.length + (fallback ? 1 : 0), 0)
      : 0;
  const planned = finishPlan(parsed.ref, isClosed ? claims.map(closeClaim) : claims, context);
  return {
    ...planned,
    endpointRefs: [...backends.endpointRefs, ...own.endpointRefs, ...collected.endpointRefs],
    diagnostics: [
      ...parsed.diagnostics,
      ...own.diagnostics,
      ...annotations.diagnostics,
      ...(refusesAnyHost ? [catchAllRefused({ object: parsed.ref })] : []),
      ...backends.diagnostics,
      ...planned.diagnostics,
    ],
    events: [...own.events, ...annotations.events],
    resources: [...own.resources, ...collected.resources],
    keySets: own.keySets,
    nginx: { ...annotations.report(), unprotectedPaths },
  };
}

/** Exactly the path `/` of a host. */
const rootOf = (host: HostPattern): NginxPath => ({
  host,
  match: { type: "exact", value: "/" },
  written: "/",
  pathType: "Exact",
  isDefaultBackend: false,
  backend: undefined,
});

/** Every path of a host that no rule matches. */
const everyPathOf = (host: HostPattern, backend: NginxPath["backend"]): NginxPath => ({
  host,
  match: anyPath,
  written: anyPath.value,
  pathType: undefined,
  isDefaultBackend: true,
  backend,
});

/**
 * The route with the default backend of the whole gateway, otherwise 404, as its answer to requests that the
 * annotations admit.
 */
function withoutService(claim: Omit<RouteClaim, "field">, lastResort: Route | undefined): RouteClaim {
  const { affinity: _, ...route } = claim.route;
  const backends = lastResort?.backends ?? [{ ...unresolvedBackend(""), status: 404 }];
  return { ...claim, field: "spec.rules", route: { ...route, backends } };
}

/** Returns the route with `redirect` instead of its own redirect, and without a backend. */
function withRedirect(claim: Omit<RouteClaim, "field">, redirect: Redirect): RouteClaim {
  const { asRegex: _, featuresOn, route, ...rest } = claim;
  const change = (features: RouteFeatures | undefined): RouteFeatures => ({ ...features, redirect });
  return {
    ...rest,
    field: "metadata.annotations",
    featuresOn: (facts) => change(featuresOn?.(facts)),
    route: { ...route, backends: [], features: change(route.features) },
  };
}

type Collected = Pick<IngressPlan, "endpointRefs" | "resources"> & {
  readonly outputs: readonly GroupOutput[];
};

/** Collects the outputs of all groups for the Ingress. */
function collectOutputs(
  ingress: ObjectOf<"Ingress">,
  nginx: NginxClass,
  { view, allowExternalName, httpsPublicPort, lastResort }: PlanContext,
  { read, say }: NginxAnnotations,
  own: AnnotationReader,
): Collected {
  const endpointRefs: IngressPlan["endpointRefs"][number][] = [];
  const resources: IngressPlan["resources"][number][] = [];
  const context: GroupContext = {
    ...view,
    ingress,
    namespace: ingress.metadata.namespace,
    nginx,
    own,
    allowExternalName,
    httpsPublicPort,
    isWritten: (annotation) => isWritten(annotation, ingress, nginx),
    lastResort,
    close: say.close,
    cannotProtect: say.cannotProtect,
    closeHost: say.closeHost,
    ignore: say.ignore,
    differs: (annotation, how) =>
      say.finding(annotation, (place) => servedDifferently(place, `${annotation.name}: ${how}`), {
        outcome: "differently",
        text: how,
      }),
    noEffect: (annotation, why, severity = "warning") =>
      say.finding(annotation, (place) => noEffect(place, `${annotation.name}: ${why}`, severity), {
        outcome: "no-effect",
        text: why,
      }),
    report: say.finding,
    judge: say.judge,
    closePaths: say.closePaths,
    usePartly: say.usePartly,
    useEndpoints: (ref) => endpointRefs.push(ref),
    provide: (resource) => resources.push(resource),
  };
  const used = isCanary(ingress, nginx) ? groupsOfCanary : groups;
  return { outputs: used.map((group) => group(read, context)), endpointRefs, resources };
}

const joinAll = (all: readonly (RouteFeatures | undefined)[]): RouteFeatures | undefined =>
  all.reduce<RouteFeatures | undefined>(joinFeatures, undefined);

const changeBackends = (
  outputs: readonly GroupOutput[],
  backends: readonly Backend[],
  path: NginxPath,
): readonly Backend[] =>
  outputs.reduce(
    (before, { backend: change }) =>
      change === undefined ? before : before.map((backend) => change(backend, path)),
    backends,
  );

/** The paths of a canary, without its default backend. */
const canariesOf = (
  parsed: ParsedIngress,
  rule: CanaryRule,
  { resolve, endpointRefs }: ReturnType<typeof createBackendResolver>,
  outputs: readonly GroupOutput[],
): readonly CanaryClaim[] =>
  parsed.paths.flatMap(({ host, match, written, pathType, rule: at, path, backend: reference }) =>
    resolve(reference).map((backend) => ({
      host,
      owner: parsed.ref,
      age: parsed.age,
      field: pathField(at, path),
      written,
      pathType,
      backend: outputs.reduce(
        (before, { ofCanary }) =>
          ofCanary?.(before, {
            ...{ host, match, written, pathType, backend: reference },
            isDefaultBackend: false,
          }) ?? before,
        backend,
      ),
      endpointRef: endpointRefs.find(({ name }) => name === backend.endpoints),
      rule,
    })),
  );

type ToRoute = (id: string, path: NginxPath) => Omit<RouteClaim, "field">;

/**
 * The claims on the hosts of the rules. A default backend applies to these hosts or, without rules, to all
 * hosts that no Ingress names.
 */
function claimHosts(
  parsed: ParsedIngress,
  { pathLevel }: Pick<HostClaim, "pathLevel">,
  toRoute: ToRoute,
): readonly HostClaim[] {
  const routesByHost = new Map<string, RouteClaim[]>(parsed.hosts.map(({ host }) => [host, []]));
  for (const { host, match, written, pathType, rule, path, backend } of parsed.paths) {
    const claim = toRoute(`${rule}.${path}`, {
      ...{ host, match, written, pathType, backend },
      isDefaultBackend: false,
    });
    routesByHost.get(host.host)?.push({ ...claim, field: pathField(rule, path) });
  }
  const { defaultBackend } = parsed;
  const hosts = defaultBackend !== undefined && parsed.hosts.length === 0 ? [anyHost] : parsed.hosts;
  return hosts.map((host) => ({
    host,
    owner: parsed.ref,
    age: parsed.age,
    pathLevel,
    routes: routesByHost.get(host.host) ?? [],
    fallback: defaultBackend && {
      ...toRoute("default", everyPathOf(host, defaultBackend.backend)),
      field: "spec.defaultBackend",
    },
  }));
}

/** The names, without prefix, of the annotations of this gateway that are set. */
function ownNamesOf(
  ingress: ObjectOf<"Ingress">,
  defaults: ClassDefaults | undefined,
  features: RouteFeatures | undefined,
): OwnNames {
  const { annotations = {} } = ingress.metadata;
  const nameOf = (key: string): string => key.slice(annotationPrefix.length);
  const isOwn = (key: string): boolean => key.startsWith(annotationPrefix);
  return {
    ofIngress: new Set(
      Object.keys(annotations)
        .filter(isOwn)
        .map(nameOf)
        .filter((name) => hasOwnValue(annotations, { name })),
    ),
    ofClass: new Set((defaults?.keys ?? []).filter(isOwn).map(nameOf)),
    protects: (name) => {
      const slug = slugOfAnnotation(name);
      const definition = allAnnotations.get(annotationKey({ name }));
      const refers = definition?.restricts === true || definition?.onInvalid === "deny";
      return slug === undefined || !refers || features?.[slug] !== undefined;
    },
  };
}

/** Returns the defaults of a class without those of the given annotations. */
function withoutNames(defaults: ClassDefaults, names: ReadonlySet<string>): ClassDefaults {
  const keys = new Set([...names].map((name) => annotationKey({ name })));
  if (!defaults.keys.some((key) => keys.has(key))) return defaults;
  return {
    namespace: defaults.namespace,
    keys: defaults.keys.filter((key) => !keys.has(key)),
    get: (definition) => (names.has(definition.name) ? undefined : defaults.get(definition)),
  };
}
