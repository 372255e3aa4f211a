/** Writes an Ingress of ingress-nginx as routes of the Gateway API. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { HTTPRouteParentRef } from "@svc-gateway/operator/api/generated/httproute.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { MovedUnit } from "../compare.ts";
import { collectObjects, createNamer, type Namer } from "../own-objects.ts";
import type { ServedUnit } from "../served-units.ts";
import { gatewayApi, plainSection, type HostListener, type Listeners } from "./listeners.ts";
import { routeConditions, routePath } from "./patterns.ts";
import { asksAlike } from "./clients.ts";
import {
  closedAnnotation,
  writePathRules,
  type PathRules,
  type PlannedRule,
  type RuleOptions,
} from "./rules.ts";

type RouteKind = PlannedRule["kind"];
type RouteObject = ObjectOf<RouteKind>;

export type WrittenRoutes = {
  /** The routes, the first of which replaces the Ingress. */
  readonly routes: readonly (RouteObject | ObjectOf<"TLSRoute">)[];
  readonly policies: readonly KubeObject[];
  readonly moved: readonly MovedUnit[];
  readonly userLists: readonly string[];
};

export type RoutesContext = {
  readonly units: readonly ServedUnit[];
  readonly gateway: NamespacedName;
  readonly listeners: Listeners;
  /** Whether several Ingresses have paths on a host. */
  readonly isShared: (host: string) => boolean;
  readonly isTaken: (kind: string, name: string) => boolean;
  readonly portOf: (unit: ServedUnit) => number | undefined;
  readonly rules: Omit<RuleOptions, "define" | "writtenPort" | "isPassed">;
};

/** The limits of a route (Gateway API, HTTPRoute.rules and HTTPRoute.hostnames). */
const maxRules = 16;
const maxHosts = 16;

type Placed = { readonly unit: ServedUnit; readonly rules: PathRules };

/** Writes the routes of an Ingress from its units. */
export function writeRoutes(ingress: ObjectOf<"Ingress">, context: RoutesContext): WrittenRoutes {
  const { namespace, name } = ingress.metadata;
  const collected = collectObjects({ namespace, name }, context.isTaken);
  const placed = [...context.units]
    .sort((a, b) => (a.places[0] ?? 0) - (b.places[0] ?? 0))
    .map((unit): Placed => {
      const options = {
        ...context.rules,
        define: collected.define,
        writtenPort: context.portOf(unit),
        isPassed: context.listeners.of(unit.host)?.mode === "Passthrough",
      };
      return { unit, rules: writePathRules(unit, options) };
    });
  const namer = createNamer(name, context.isTaken);
  const builder: Builder = { namespace, context, namer, routes: [], moved: [] };
  const byHost = Map.groupBy(placed, ({ unit }) => unit.host);
  // Hosts that are served alike over the same kind of listener share a route.
  const alike = Map.groupBy(byHost, ([host, of]) => {
    const listener = context.listeners.of(host);
    const how = of.map(({ rules: { serving, conditions, redirect, closedPlain } }) => ({
      ...{ serving, conditions, redirect, closedPlain },
    }));
    return canonicalJson({ how, mode: listener?.mode, isTls: listener !== undefined } as object);
  });
  for (const hosts of alike.values()) {
    for (let at = 0; at < hosts.length; at += maxHosts) writeHosts(hosts.slice(at, at + maxHosts), builder);
  }
  return {
    routes: builder.routes,
    policies: collected.objects(),
    moved: builder.moved,
    userLists: placed.flatMap(({ rules }) => rules.userList ?? []),
  };
}

type Builder = {
  readonly namespace: string;
  readonly context: RoutesContext;
  readonly namer: Namer;
  readonly routes: (RouteObject | ObjectOf<"TLSRoute">)[];
  readonly moved: MovedUnit[];
};

type HostEntry = readonly [string, readonly Placed[]];

function writeHosts(hosts: readonly HostEntry[], builder: Builder): void {
  const [[first, placed] = ["*", []]] = hosts;
  const { context } = builder;
  const names = hosts.map(([host]) => host);
  const listener = context.listeners.of(first);
  const serving = placed.flatMap((one): RuleOf[] => [
    ...one.rules.conditions.map((rule, condition) => ({ ...rule, unit: one.unit, condition })),
    { ...one.rules.serving, unit: one.unit },
  ]);
  const redirecting = placed.flatMap(({ unit, rules: { redirect, closedPlain } }): RuleOf[] => {
    if (redirect !== undefined) return [{ ...redirect, unit, isRedirect: true }];
    if (closedPlain !== undefined) return [{ ...closedPlain, unit, isClosed: true }];
    return serving.filter((rule) => rule.unit === unit);
  });
  const isMixed =
    listener !== undefined &&
    redirecting.some(({ isRedirect, isClosed }) => isRedirect === true || isClosed === true);
  const secure = names.flatMap((host) => parentOf(context.listeners.of(host), builder.namespace));
  const plain: HTTPRouteParentRef = {
    ...gatewayRef(context.gateway, builder.namespace),
    sectionName: plainSection,
  };
  if (listener?.mode === "Passthrough") {
    writePassthrough(names, placed, secure, builder);
    writeRules(names, serving, [plain], "", builder, hosts);
    return;
  }
  if (!isMixed) {
    writeRules(names, serving, [...(listener === undefined ? [] : secure), plain], "", builder, hosts);
    return;
  }
  writeRules(names, serving, secure, "", builder, hosts);
  // A rule for all paths would change which Ingress serves a path that another one has on the host.
  const plainRules = names.some(context.isShared) ? redirecting : collapse(redirecting);
  writeRules(names, plainRules, [plain], "-http", builder, hosts);
}

/** Combines redirects of all paths of a host into one rule for every path if they are equal. */
function collapse(rules: readonly RuleOf[]): readonly RuleOf[] {
  const [first] = rules;
  const alike = new Set(rules.map(({ rule }) => canonicalJson({ filters: rule.filters } as object)));
  if (first?.isRedirect !== true || alike.size > 1 || rules.some(({ isRedirect }) => isRedirect !== true))
    return rules;
  const { filters } = first.rule;
  return [{ ...first, rule: { ...(filters && { filters }) }, isOfAll: true }];
}

type RuleOf = PlannedRule & {
  readonly unit: ServedUnit;
  /** The position among the conditions of the path. */
  readonly condition?: number;
  readonly isRedirect?: true;
  readonly isClosed?: true;
  /** Whether it is for all paths of the host. */
  readonly isOfAll?: true;
};

const gatewayRef = (gateway: NamespacedName, namespace: string): HTTPRouteParentRef => ({
  name: gateway.name,
  ...(gateway.namespace !== namespace && { namespace: gateway.namespace }),
});

const parentOf = (listener: HostListener | undefined, namespace: string): readonly HTTPRouteParentRef[] =>
  listener === undefined
    ? []
    : [
        {
          group: "gateway.networking.k8s.io",
          kind: "ListenerSet",
          ...gatewayRef(listener.set, namespace),
          sectionName: listener.section,
        },
      ];

/** Writes rules into as many routes as necessary, and records which rules serve each path. */
function writeRules(
  names: readonly string[],
  rules: readonly RuleOf[],
  written: readonly HTTPRouteParentRef[],
  suffix: string,
  builder: Builder,
  hosts: readonly HostEntry[],
): void {
  const parentRefs = [...new Map(written.map((one) => [canonicalJson(one as object), one])).values()];
  const ids = new Map<RuleOf, string>();
  for (const kind of ["HTTPRoute", "GRPCRoute"] as const) {
    const ofKind = rules.filter((rule) => rule.kind === kind);
    for (let at = 0; at < ofKind.length; at += maxRules) {
      const chunk = ofKind.slice(at, at + maxRules);
      const name = builder.namer(kind, suffix);
      for (const [index, rule] of chunk.entries())
        ids.set(rule, `${kind.toLowerCase()}/${builder.namespace}/${name}:${index}`);
      builder.routes.push({
        apiVersion: gatewayApi,
        kind,
        metadata: { namespace: builder.namespace, name },
        spec: {
          parentRefs,
          ...(names[0] !== "*" && { hostnames: names }),
          rules: chunk.map(({ rule }) => rule),
        },
      } as RouteObject);
    }
  }
  for (const parent of parentRefs) {
    const port = parent.kind === "ListenerSet" ? 443 : 80;
    for (const [host, placed] of hosts) {
      const listener = builder.context.listeners.of(host);
      if (port === 443 && listener?.section !== parent.sectionName) continue;
      for (const one of placed) builder.moved.push(...movedTo(one, { port, host, rules, ids }));
    }
  }
}

type Place = {
  readonly port: number;
  readonly host: string;
  readonly rules: readonly RuleOf[];
  readonly ids: ReadonlyMap<RuleOf, string>;
};

/** The unit of a path in the form of a route, with the rules that serve it. Hosts that are served alike share rules. */
function movedTo(
  { unit: written, rules: { notes } }: Placed,
  { port, host, rules, ids }: Place,
): readonly MovedUnit[] {
  const unit = withClientsOfPort(written, port);
  const isOf = (rule: RuleOf): boolean => rule.isOfAll === true || samePath(rule.unit, unit);
  const own = rules.filter(isOf);
  const last = own.at(-1);
  if (last === undefined) return [];
  const keyOf = (rule: RuleOf): string => `${port} ${ids.get(rule) ?? ""} ${host}`;
  if (last.isRedirect === true) return [movedRedirect(unit, notes, keyOf(last), last.isOfAll === true)];
  if (last.isClosed === true) return [{ before: closedUnit(asRoute(unit)), notes, after: keyOf(last) }];
  const conditions = own.filter(({ condition }) => condition !== undefined).map(keyOf);
  return [{ before: asRoute(unit), notes, after: keyOf(last), conditions }];
}

/** Adapts the client rules of a unit: listeners require certificates only over TLS, and for all routes of the host. */
function withClientsOfPort(unit: ServedUnit, port: number): ServedUnit {
  const { clients: ofHost, ...host } = unit.ofHost;
  const { clients: ofRoute, ...route } = unit.route;
  if (port !== 443) return { ...unit, ofHost: host, route };
  return asksAlike(ofHost, ofRoute) ? { ...unit, route } : unit;
}

/** The unit of a path that is closed for requests without TLS. */
function closedUnit(unit: ServedUnit): ServedUnit {
  const { choices: _, ...route } = unit.route;
  const paths = [{ type: "beginning" as const, value: closedAnnotation.value }];
  return { ...unit, route: { ...route, features: { "closed-paths": { paths, statusCode: 403 } } } };
}

const samePath = (a: ServedUnit, b: ServedUnit): boolean => a.part === b.part && a.ingress === b.ingress;

/** Converts a unit to the form in which a route of a Gateway serves it. */
function asRoute(unit: ServedUnit): ServedUnit {
  const { features, match, choices, fallback: _, accessLog, ...route } = unit.route;
  const { "ssl-redirect": redirect, ...others } = features ?? {};
  const kept = features?.redirect !== undefined || redirect === undefined ? features : others;
  const rewrite = kept?.["rewrite-target"];
  const newPath = rewrite?.path;
  return {
    ...unit,
    route: {
      ...route,
      match: { ...match, path: routePath(match.path) },
      ...(choices && {
        choices: choices.map(({ when, weights }) => ({ when: routeConditions(when), weights })),
      }),
      ...(accessLog !== undefined && { accessLog }),
      ...(kept !== undefined &&
        Object.keys(kept).length > 0 && {
          features:
            newPath?.type === "expand" && newPath.pattern === match.path.value
              ? {
                  ...kept,
                  "rewrite-target": {
                    ...rewrite,
                    path: { ...newPath, pattern: routePath(match.path).value },
                  },
                }
              : kept,
        }),
    },
  };
}

/** The note about a redirecting rule, which has no other filters. */
const unmarkedRedirect: MovedUnit["notes"][number] = {
  property: "features.response-headers",
  of: "features.response-headers.set",
  loss: "changed",
  text: "Redirects to https are without the header fields that other responses get",
};

/** The redirect of requests without TLS, as the unit to compare. */
function movedRedirect(
  unit: ServedUnit,
  notes: MovedUnit["notes"],
  after: string,
  isOfAll: boolean,
): MovedUnit {
  const { id, source, match, features } = unit.route;
  const redirect = features?.["ssl-redirect"];
  const path = isOfAll ? ({ type: "prefix", value: "/" } as const) : routePath(match.path);
  const { set, add } = features?.["response-headers"] ?? {};
  const isMarked = set !== undefined || add !== undefined;
  const route: Route = {
    id,
    source,
    match: { path },
    backends: [],
    features: {
      redirect: {
        scheme: "https",
        statusCode: redirect?.statusCode ?? 308,
        ...(redirect?.cutSlash === true && { cutSlash: true }),
      },
      ...(isMarked && { "response-headers": { ...(set && { set }), ...(add && { add }) } }),
    },
  };
  return {
    before: { ...unit, route },
    notes: [
      ...(isMarked ? [unmarkedRedirect] : []),
      ...notes.map((note) => ({
        ...note,
        property: note.property.replace("features.ssl-redirect", "features.redirect"),
      })),
    ],
    after,
    renames: { "features.redirect": "features.ssl-redirect" },
  };
}

/** Writes a TLSRoute for connections that are passed through to the backend. */
function writePassthrough(
  names: readonly string[],
  placed: readonly Placed[],
  parentRefs: readonly HTTPRouteParentRef[],
  { namer, namespace, routes }: Builder,
): void {
  const root = placed.find(({ unit }) => unit.route.match.path.value === "/") ?? placed[0];
  const backendRefs =
    root?.rules.serving.rule.backendRefs?.map(({ name, namespace: owner, port, weight }) => ({
      name,
      namespace: owner,
      port,
      weight,
    })) ?? [];
  routes.push({
    apiVersion: gatewayApi,
    kind: "TLSRoute",
    metadata: { namespace, name: namer("TLSRoute", "") },
    spec: { parentRefs, hostnames: names, rules: [{ backendRefs }] },
  } as ObjectOf<"TLSRoute">);
}
