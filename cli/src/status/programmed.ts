/** Finds Gateways and routes that, according to their statuses in the cluster, are not served as written. */
import { formatRef, refOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { error, type StatusProblem } from "./problem.ts";

type Condition = {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
};
type Conditions = { readonly conditions?: readonly Condition[] };
type RouteParent = Conditions & { readonly controllerName?: string };

/** Returns the status of an object, as stored in the API server. */
export type StatusOf = (object: KubeObject) => unknown;

/** The conditions of a parent that must be true for a route to be served as written. */
const ofRoutes = ["Accepted", "ResolvedRefs"] as const;

export function unprogrammed(
  { gatewayStatuses: { gateways, listenerSets, routes } }: Pick<Translation, "gatewayStatuses">,
  statusOf: StatusOf,
  controllerName: string,
): readonly StatusProblem[] {
  const ofGateways = [...gateways, ...listenerSets].flatMap(({ object }) =>
    problemsOf(object, (statusOf(object) ?? {}) as Conditions, ["Programmed"]),
  );
  const seen = new Set<KubeObject>();
  const ofEveryRoute = routes.flatMap(({ object }) => {
    // The translation has one entry for each parent, but a route is reported once.
    if (seen.has(object)) return [];
    seen.add(object);
    const { parents = [] } = (statusOf(object) ?? {}) as { readonly parents?: readonly RouteParent[] };
    const own = parents.filter((parent) => parent.controllerName === controllerName);
    if (own.length === 0) return [error(formatRef(refOf(object)), "has no status of the controllers yet")];
    return own.flatMap((parent) => problemsOf(object, parent, ofRoutes));
  });
  return [...ofGateways, ...ofEveryRoute];
}

const problemsOf = (
  object: KubeObject,
  { conditions = [] }: Conditions,
  types: readonly string[],
): readonly StatusProblem[] =>
  types.flatMap((type) => {
    const found = conditions.find((condition) => condition.type === type);
    const why = problemOf(type, found, object.metadata.generation);
    return why === undefined ? [] : [error(formatRef(refOf(object)), why)];
  });

/** Returns why a condition does not state that the present generation of its object is served; undefined if it does. */
function problemOf(
  type: string,
  found: Condition | undefined,
  generation: number | undefined,
): string | undefined {
  if (found === undefined) return `${type}: no controller has reported it yet`;
  const { status = "Unknown", reason = "", message = "", observedGeneration } = found;
  // The generation counts for True only: controllers write the one before it while proxies still apply an object.
  if (status !== "True") return `${type} is ${status} (${reason}): ${message}`;
  if (observedGeneration === undefined || generation === undefined || observedGeneration >= generation)
    return undefined;
  return `${type} is True for generation ${observedGeneration}, expected generation ${generation}: no controller has processed the last change yet`;
}
