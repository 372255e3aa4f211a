import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import type { FeaturesOnHost, HostWishes } from "../ingress-nginx/host-facts.ts";
import type { RegexPath } from "../ingress-nginx/regex-path.ts";

/** The claim of one Ingress on one host. */
export type HostClaim = {
  readonly host: HostPattern;
  readonly owner: ObjectRef;
  readonly age: Age;
  readonly routes: readonly RouteClaim[];
  /** The level to which the paths of the host should be normalised; undefined if the Ingress sets none. */
  readonly pathLevel: PathLevel | undefined;
  /** The default backend of the Ingress, if it applies to the host. */
  readonly fallback: RouteClaim | undefined;
  /** The route for paths that no rule of the host matches. It applies while the Ingress is the oldest of the host. */
  readonly rest?: RouteClaim;
  /** Whether the default backend is ordered after those of all other Ingresses. */
  readonly isLast?: true;
  /**
   * Settings for the whole host, requested by an Ingress of the ingress-nginx dialect; absent for other Ingresses.
   */
  readonly nginx?: HostWishes;
  /** A route for exactly `/`, which precedes all paths of the host if the Ingress is allowed to set it. */
  readonly appRoot?: RouteClaim;
};

/** A route with the details that messages about it contain. */
export type RouteClaim = {
  readonly route: Route;
  readonly field: string;
  readonly written: string;
  /** The path type as written; absent for default backends. */
  readonly pathType?: string;
  /**
   * Returns the features of the route if they depend on the whole host. `route` has those that assume a host
   * with TLS.
   */
  readonly featuresOn?: FeaturesOnHost;
  /** The path as a regular expression, for hosts that have regular expressions; absent if the path never changes. */
  readonly asRegex?: RegexPath;
  /** Whether cert-manager created the path for a challenge of a certificate authority. */
  readonly isChallenge?: true;
};

/** The part after the colon in the id of the route that answers paths of a host that no rule matches. */
export const restPart = "rest";

/**
 * Whether a route answers the paths of a host that no rule matches: with 404, or by the default backend of the
 * gateway.
 */
export const isRest = ({ id, fallback }: Pick<Route, "id" | "fallback">): boolean =>
  fallback === true && id.endsWith(`:${restPart}`);
