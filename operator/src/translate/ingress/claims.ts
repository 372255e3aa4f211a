import type { PathLevel } from "@svc-gateway/common/features/path-normalize.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";

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
  /** Whether the default backend comes after those of all others. */
  readonly isLast?: true;
};

/** A route with what a message about it says. */
export type RouteClaim = { readonly route: Route; readonly field: string; readonly written: string };
