/** The routes of one host: precedence and conflicts between the Ingresses that claim it. See docs/routing.md. */
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { pathNormalize, type PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import { routeKey, type HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { encodeFresh, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { nameOf, type ObjectRef } from "../../api/object.ts";
import { compareAges, compareText } from "../age.ts";
import { keyField } from "../diagnostics/define-finding.ts";
import {
  defaultBackendShadowed,
  pathLevelConflict,
  regexShadowed,
  routeConflict,
} from "../diagnostics/routes.ts";
import { appRootNotYours } from "../diagnostics/nginx-hosts.ts";
import { protectionRefused } from "../diagnostics/ingress-nginx.ts";
import { notServed, routeConflictEvent } from "../events.ts";
import type { Conflict, DesiredEvent, Diagnostic } from "../finding.ts";
import { findClosed } from "../ingress-nginx/closed-paths.ts";
import { listRoutes } from "../ingress-nginx/regex-list.ts";
import type { HostOwner } from "../ownership.ts";
import type { ServedHost } from "../routing.ts";
import { quote } from "../text.ts";
import { typeRank } from "../tiers.ts";
import type { HostClaim, RouteClaim } from "./claims.ts";
import { anyHost } from "./host.ts";
import { comparedPath, isEveryPath, type PathForm } from "./path.ts";
import { chooseAppRoot } from "./app-root.ts";

/** The name of the listener that all Ingresses share. */
export const ingressListener = "ingress";

export type HostTable = {
  readonly served: ServedHost;
  /** The same routes on each port. */
  readonly resources: readonly Resource[];
  /** The oldest Ingress that names the host in a rule. */
  readonly owner: HostOwner | undefined;
  /** The claims that the table is built from. */
  readonly claims: readonly HostClaim[];
  readonly conflicts: readonly Conflict[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/** Whether a namespace decides about the settings of the whole host. */
export const belongsTo = ({ owner }: HostTable, namespace: string | undefined): boolean =>
  owner?.namespace === namespace;

/** The length above which a path is shortened in messages, which must fit into an Event. */
const maxShownPath = 500;

type Winner = { readonly claim: RouteClaim; readonly owner: ObjectRef };

/**
 * Builds the table of one host, or of every host that no Ingress claims. Each pair of match type and path
 * belongs to the oldest Ingress that claims it; the others get a `RouteConflict`. After all paths comes a
 * single fallback: the default backend of the oldest Ingress that has one, otherwise the route of the oldest
 * Ingress for the rest of the host, otherwise the default backend of the whole gateway. On a host with an
 * owner, nothing of Ingresses in other namespaces is served.
 */
export function buildHostTable(
  claims: readonly HostClaim[],
  options: {
    readonly ports: readonly number[];
    readonly lastResort: Route | undefined;
    readonly owner?: HostOwner;
  },
): HostTable {
  const { ports, lastResort, owner } = options;
  const host = claims[0]?.host ?? anyHost;
  const losses = createLosses(host, ports);
  const all = claims.length > 1 ? claims.toSorted((a, b) => compareAges(a.age, b.age)) : claims;
  const byAge = owner === undefined ? all : keepOwn(all, owner, losses);
  const hostOwner = ownerOf(all);
  const ownerNamespace = hostOwner?.namespace ?? all[0]?.owner.namespace;
  const isDecoded = all.some(
    ({ nginx, owner: of }) => nginx !== undefined && of.namespace === ownerNamespace,
  );
  const chosen = choosePathLevel(byAge);
  const form = { level: chosen.level, isDecoded };
  const winners = settle(byAge, form, losses);
  const compare = precedenceIn(form, all);
  const everyPath = winners.find(({ claim }) => isEveryPath(claim.route.match.path));
  const rest = everyPath === undefined ? restOf(byAge) : undefined;
  const listed = listRoutes(winners, {
    host: host.host,
    ownerNamespace,
    form,
    compare,
    fallbacks: byAge.flatMap(({ fallback, owner: of }) => (fallback ? [{ claim: fallback, owner: of }] : [])),
  });
  losses.diagnostics.push(...(listed?.diagnostics ?? []));
  const ofPaths = listed?.routes ?? winners.map(({ claim }) => claim.route).sort(compare);
  losses.closedByOthers(byAge);
  const appRoot = chooseAppRoot(byAge, { ownerNamespace, winners, ofPaths }, losses.foreignAppRoot);
  const routes = appRoot === undefined ? ofPaths : [appRoot, ...ofPaths];
  reportIgnoredLevels(byAge, chosen, losses);
  const fallback = chooseFallback(byAge, { everyPath, rest, lastResort }, losses);
  if (everyPath !== undefined && listed === undefined)
    reportShadowedRegexes(winners, everyPath.owner, losses);
  // With its fields in alphabetical order, like all parts of routes, the value is serialised without a copy.
  const value = {
    inherit: false,
    listener: ingressListener,
    ...(isDecoded && { matchPaths: "decoded" as const }),
    ...(chosen.level !== "base" && { pathLevel: chosen.level }),
    routes: fallback === undefined ? routes : [...routes, afterAll(fallback, routes)],
  };
  return {
    served: { group: "ingress", ports, host, value },
    resources: underPorts(ports, host, value),
    owner: hostOwner,
    claims,
    conflicts: losses.conflicts,
    diagnostics: losses.diagnostics,
    events: losses.events,
  };
}

/**
 * The owner of the host. An Ingress with only a default backend does not own every host, although its backend
 * serves it.
 */
function ownerOf(byAge: readonly HostClaim[]): HostOwner | undefined {
  const first = byAge.find(
    ({ host, owner, routes }) => owner.kind === "Ingress" && (host.kind !== "any" || routes.length > 0),
  );
  return first && { object: first.owner, namespace: first.owner.namespace ?? "", age: first.age };
}

/** The claims of the owner's namespace and of the settings. */
function keepOwn(
  byAge: readonly HostClaim[],
  { namespace, object }: HostOwner,
  losses: Losses,
): readonly HostClaim[] {
  return byAge.filter(({ owner, routes, fallback }) => {
    if (owner.kind !== "Ingress" || owner.namespace === namespace) return true;
    for (const claim of routes) losses.conflict(claim, owner, object);
    if (fallback !== undefined) losses.conflict(fallback, owner, object);
    return false;
  });
}

/** Returns the table with changed routes. */
export function withRoutes(
  table: HostTable,
  ports: readonly number[],
  change: (value: HostRoutes) => HostRoutes,
): HostTable {
  const { host, value: before } = table.served;
  const value = change(before);
  return { ...table, served: { ...table.served, value }, resources: underPorts(ports, host, value) };
}

/** The table under an additional name of its host, without findings. */
export const underName = (
  table: HostTable,
  ports: readonly number[],
  host: HostPattern,
  value: HostRoutes,
): HostTable => ({
  served: { group: "ingress", ports, host, value },
  resources: underPorts(ports, host, value),
  owner: table.owner,
  claims: [],
  conflicts: [],
  diagnostics: [],
  events: [],
});

/**
 * The winner of each pair of match type and path, as the proxies compare it. Claims must be sorted by age. Of paths
 * of one Ingress that are compared as equal, the first one wins.
 */
function settle(byAge: readonly HostClaim[], form: PathForm, losses: Losses): readonly Winner[] {
  const [first, ...others] = byAge;
  if (first === undefined) return [];
  if (others.length === 0) return first.routes.map((claim) => ({ claim, owner: first.owner }));
  const slots = new Map<string, Winner>();
  // As regular expressions, paths with and without a trailing slash differ.
  const haveRegexes = byAge.some(({ routes }) => routes.some(({ asRegex }) => asRegex?.turnsHost === true));
  for (const { routes, owner } of byAge) {
    for (const claim of routes) {
      const { path } = claim.route.match;
      const isWritten = haveRegexes && claim.asRegex !== undefined;
      const slot = `${path.type} ${isWritten ? claim.written : comparedPath(path, form)}`;
      const winner = slots.get(slot);
      if (winner === undefined) slots.set(slot, { claim, owner });
      else if (winner.owner !== owner) losses.conflict(claim, owner, winner.owner);
    }
  }
  return [...slots.values()];
}

/** Puts the fallback behind the routes of every tier. */
function afterAll(fallback: Route, routes: readonly Route[]): Route {
  const tier = routes.at(-1)?.tier;
  return tier === undefined ? fallback : { ...fallback, tier };
}

/** Encodes and hashes the table once for all ports. */
function underPorts(ports: readonly number[], host: HostPattern, value: HostRoutes): readonly Resource[] {
  const [first, ...others] = ports;
  if (first === undefined) return [];
  const resource = encodeFresh(routeKey("ingress", first, host), value);
  return [resource, ...others.map((port) => ({ ...resource, key: routeKey("ingress", port, host) }))];
}

type ChosenLevel = { readonly level: PathLevel; readonly winner: ObjectRef | undefined };

/**
 * Chooses the level of path normalisation: that of the oldest Ingress that sets one, in the namespace of the
 * host's oldest Ingress. If no Ingress of this namespace sets a level, the default also applies to younger
 * Ingresses of other namespaces.
 */
function choosePathLevel(byAge: readonly HostClaim[]): ChosenLevel {
  const [first] = byAge;
  const winner =
    byAge.find(
      ({ pathLevel, owner }) => pathLevel !== undefined && owner.namespace === first?.owner.namespace,
    ) ?? first;
  return { level: winner?.pathLevel ?? "base", winner: winner?.owner };
}

/** Reports the Ingresses that set another level, which is ignored. */
function reportIgnoredLevels(
  byAge: readonly HostClaim[],
  { level, winner }: ChosenLevel,
  losses: Losses,
): void {
  if (winner === undefined) return;
  for (const { owner, pathLevel } of byAge) {
    if (pathLevel !== undefined && pathLevel !== level) losses.ignoredLevel(owner, level, winner);
  }
}

/** The route of the oldest Ingress for paths that no rule matches, unless it has a default backend for them. */
function restOf([first]: readonly HostClaim[]): Winner | undefined {
  if (first?.rest === undefined || first.fallback !== undefined) return undefined;
  return { claim: first.rest, owner: first.owner };
}

/**
 * Chooses the route after all paths. An Ingress with a rule for the path `/` receives every request, so no
 * default backend can be reached. If the oldest Ingress answers the rest of the host, default backends of
 * younger Ingresses in the same dialect are ignored.
 */
function chooseFallback(
  byAge: readonly HostClaim[],
  {
    everyPath,
    rest,
    lastResort,
  }: Readonly<Record<"everyPath" | "rest", Winner | undefined>> & {
    readonly lastResort: Route | undefined;
  },
  losses: Losses,
): Route | undefined {
  let chosen: Winner | undefined;
  for (const { fallback, owner, isLast, nginx } of byAge) {
    if (fallback === undefined || isLast) continue;
    const winner = chosen ?? (nginx === undefined ? undefined : rest);
    if (everyPath !== undefined) losses.shadowedDefault(fallback, owner, everyPath.owner);
    else if (winner !== undefined) losses.conflict(fallback, owner, winner.owner);
    else chosen = { claim: fallback, owner };
  }
  if (everyPath !== undefined) return undefined;
  const last = byAge.find(({ isLast }) => isLast)?.fallback ?? rest?.claim;
  return chosen?.claim.route ?? last?.route ?? lastResort;
}

/**
 * Reports regular expressions that are never reached: prefixes precede them, and the prefix `/` matches every path.
 */
function reportShadowedRegexes(winners: Iterable<Winner>, everyPath: ObjectRef, losses: Losses): void {
  for (const { claim, owner } of winners) {
    if (claim.route.match.path.type === "regex") losses.shadowedRegex(claim, owner, everyPath);
  }
}

/**
 * Orders exact paths first, then prefixes from long to short, then regular expressions in the order of the input.
 * Paths that the proxies compare as equal also keep the order of the input, so that the oldest is tried first.
 */
const precedenceIn = (form: PathForm, claims: readonly HostClaim[]) => {
  // Only Ingresses of ingress-nginx have paths whose form differs from their text at `base`.
  const isPlain = form.level === "base" && claims.every(({ nginx }) => nginx === undefined);
  const textOf = isPlain ? ({ value }: PathMatch) => value : (path: PathMatch) => comparedPath(path, form);
  return (a: Route, b: Route): number => {
    const first = a.match.path;
    const second = b.match.path;
    const byType = typeRank[first.type] - typeRank[second.type];
    if (byType !== 0 || first.type === "regex") return byType;
    const text = textOf(first);
    const other = textOf(second);
    return other.length - text.length || compareText(text, other);
  };
};

type Losses = ReturnType<typeof createLosses>;

/** Collects the findings and Events of Ingresses that are not served as written on this host. */
function createLosses(host: HostPattern, ports: readonly number[]) {
  const conflicts: Conflict[] = [];
  const diagnostics: Diagnostic[] = [];
  const events: DesiredEvent[] = [];
  return {
    conflicts,
    diagnostics,
    events,
    conflict: ({ route, written, field }: RouteClaim, loser: ObjectRef, winner: ObjectRef): void => {
      const path = written.length > maxShownPath ? quote(written) : written;
      const message = `Route on host ${host.host} path ${path} is shadowed by ${nameOf(winner)}`;
      const rejectedServices = route.backends.map(({ service }) => service).join(",");
      const { path: match } = route.match;
      conflicts.push({ group: "ingress", ports, host, path: match, loser, winner, rejectedServices });
      diagnostics.push(routeConflict({ object: loser, field }, message));
      events.push(routeConflictEvent(loser, message));
    },
    ignoredLevel: (loser: ObjectRef, level: PathLevel, winner: ObjectRef): void => {
      const field = keyField("metadata.annotations", annotationKey(pathNormalize.annotations.pathNormalize));
      diagnostics.push(pathLevelConflict({ object: loser, field }, host.host, level, winner));
    },
    foreignAppRoot: (loser: ObjectRef, namespace: string): void => {
      const field = keyField("metadata.annotations", "app-root");
      diagnostics.push(appRootNotYours({ object: loser, field }, host.host, namespace));
    },
    closedByOthers: (claims: readonly HostClaim[]): void => {
      for (const { object, message } of findClosed(claims)) {
        diagnostics.push(protectionRefused({ object, field: "spec.rules" }, message));
        events.push(notServed(object, message));
      }
    },
    shadowedRegex: ({ field, written }: RouteClaim, loser: ObjectRef, winner: ObjectRef): void => {
      diagnostics.push(regexShadowed({ object: loser, field }, host.host, written, winner));
    },
    shadowedDefault: ({ field }: RouteClaim, loser: ObjectRef, winner: ObjectRef): void => {
      if (loser === winner) return;
      diagnostics.push(defaultBackendShadowed({ object: loser, field }, host.host, winner));
    },
  };
}
