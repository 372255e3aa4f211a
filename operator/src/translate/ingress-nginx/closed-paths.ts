/**
 * The paths that snippets protect, on the routes of their Ingresses and, for the configuration of a server, on all
 * routes of the namespace on the host. See docs/ingress-nginx.md, "Snippets".
 */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { nameOf, type ObjectRef } from "../../api/object.ts";
import { compareAges } from "../age.ts";
import type { HostClaim, RouteClaim } from "../ingress/claims.ts";
import type { LocationPath } from "./snippets/location.ts";

/** The place of a snippet in nginx's configuration, which determines its effect. */
export type SnippetLevel = "location" | "server" | "subrequest" | "stream";

type Path = {
  readonly match: PathMatch;
  /** The path as written. */
  readonly written: string;
  readonly pathType: string | undefined;
  readonly isDefaultBackend: boolean;
};

/**
 * The closed paths of one route. A location of the server does not receive the requests of a longer or exact
 * one; a location within another receives those that have reached the outer one.
 */
export function closedOn(
  { written, pathType, match, isDefaultBackend }: Path,
  closed: readonly LocationPath[],
  level: SnippetLevel,
): RouteFeatures | undefined {
  const isRegexHost = match.type === "regex";
  const isExact = pathType === "Exact" && !isRegexHost;
  const takes = ({ type, value, isFirst }: LocationPath): boolean => {
    if (level !== "server" || isRegexHost || isDefaultBackend) return true;
    if (isExact) return type === "exact" && value === written;
    if (type === "beginning" && isFirst !== true)
      return !(written.length > value.length && written.startsWith(value));
    return true;
  };
  const paths = closed.filter(takes).map(({ type, value }) => ({ type, value }));
  return paths.length === 0 ? undefined : close(paths);
}

const close = (paths: Pick<LocationPath, "type" | "value">[]): RouteFeatures => ({
  "closed-paths": { paths, statusCode: 503 },
});

/** Paths that other Ingresses of the namespace close on the routes of an Ingress. */
export type Closing = {
  /** One of these Ingresses. */
  readonly by: ObjectRef;
  readonly paths: "all" | readonly LocationPath[];
};

/**
 * The maximum number of paths, and of their characters, that are closed one by one on the routes of other Ingresses.
 * Each of these routes carries all paths, but is counted with the size of its own Ingress only. More paths close all.
 */
const maxPaths = 64;
const maxCharacters = 2_048;

/**
 * Returns a function that finds the paths which other Ingresses of the namespace close on the routes of a claim. An
 * Ingress never closes routes of another namespace, even if its own one owns the host.
 */
export function closingsOf(claims: readonly HostClaim[]): (claim: HostClaim) => Closing | undefined {
  const closers = claims.filter(({ nginx }) => nginx?.closedPaths !== undefined);
  if (closers.length === 0) return () => undefined;
  const byAge = closers.toSorted((a, b) => compareAges(a.age, b.age));
  const byNamespace = Map.groupBy(byAge, ({ owner }) => owner.namespace);
  return ({ owner, nginx }) => {
    if (nginx === undefined) return undefined;
    const paths: LocationPath[] = [];
    let by: ObjectRef | undefined;
    let characters = 0;
    for (const { owner: closer, nginx: wishes } of byNamespace.get(owner.namespace) ?? []) {
      if (closer === owner) continue;
      by ??= closer;
      const { closedPaths = [] } = wishes ?? {};
      if (closedPaths === "all") return { by: closer, paths: "all" };
      for (const path of closedPaths) characters += path.value.length;
      paths.push(...closedPaths);
      if (paths.length > maxPaths || characters > maxCharacters) return { by, paths: "all" };
    }
    return by && { by, paths };
  };
}

/** The closed paths of a route of another Ingress. */
export const closedByOthers = (
  { route, written, pathType }: RouteClaim,
  { paths }: Closing,
): RouteFeatures | undefined =>
  paths === "all"
    ? close([{ type: "beginning", value: "/" }])
    : closedOn(
        { match: route.match.path, written, pathType, isDefaultBackend: route.fallback === true },
        paths,
        "server",
      );

/** The Ingresses with paths that others close on a host, each with a message that names these Ingresses. */
export function findClosed(
  claims: readonly HostClaim[],
): readonly { readonly object: ObjectRef; readonly message: string }[] {
  const closingOf = closingsOf(claims);
  return claims.flatMap((claim) => {
    const closing = closingOf(claim);
    if (closing === undefined) return [];
    const { host, owner: object, routes, fallback } = claim;
    const served = [...routes, ...(fallback ? [fallback] : [])].filter(({ featuresOn }) => featuresOn);
    const closed = served.flatMap((one) => closedByOthers(one, closing)?.["closed-paths"]?.paths ?? []);
    if (closed.length === 0) return [];
    const texts = new Set(closed.map(({ type, value }) => `${type} ${value}`));
    const paths = closing.paths === "all" ? "all" : [...texts].join(", ");
    const message =
      `server-snippet of Ingress ${nameOf(closing.by)} protects host ${host.host}, and is not executed; these paths of the host ` +
      `are answered 503 on this Ingress as well: ${paths}`;
    return [{ object, message }];
  });
}
