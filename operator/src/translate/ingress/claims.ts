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
  /** How far it wants the paths of the host to be normalised; undefined where it does not say. */
  readonly pathLevel: PathLevel | undefined;
  /** Its default backend, where that applies to the host. */
  readonly fallback: RouteClaim | undefined;
  /** What answers the paths that no rule of the host names, while the Ingress is the oldest of the host. */
  readonly rest?: RouteClaim;
  /** Whether the default backend comes after those of all others. */
  readonly isLast?: true;
  /** What an Ingress that is read as ingress-nginx reads it wants of the host as a whole; absent for any other. */
  readonly nginx?: HostWishes;
  /** A route for exactly `/`, which comes before all paths of the host where the Ingress may have it. */
  readonly appRoot?: RouteClaim;
};

/** A route with what a message about it says. */
export type RouteClaim = {
  readonly route: Route;
  readonly field: string;
  readonly written: string;
  /** Its path type as it is written; absent of default backends. */
  readonly pathType?: string;
  /** The features of the route where they depend on the whole host; those of `route` are what they may take up. */
  readonly featuresOn?: FeaturesOnHost;
  /** What the path is where the host has regular expressions; absent: it stays as it is. */
  readonly asRegex?: RegexPath;
};

/** The part of the id of the route that answers the paths of a host which no rule names, after the colon. */
export const restPart = "rest";

/** Whether a route answers the paths of a host that no rule names: with 404, or by the backend of the whole gateway. */
export const isRest = ({ id, fallback }: Pick<Route, "id" | "fallback">): boolean =>
  fallback === true && id.endsWith(`:${restPart}`);
