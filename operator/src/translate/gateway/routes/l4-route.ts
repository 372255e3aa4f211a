/** Plans a TLSRoute, TCPRoute or UDPRoute, given the objects that it names. See docs/features/l4.md. */
import type { L4Backend, L4Route } from "@svc-gateway/common/ir/l4.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { isClosed } from "../../closures.ts";
import type { Fault } from "../../condition.ts";
import { noBackend } from "../../diagnostics/gateway.ts";
import type { L4RouteKind } from "../kinds.ts";
import { resolveBackendRef } from "./backend-ref.ts";
import { areWeightless } from "./no-backend.ts";
import { describeRoute, hostsOf, unusable, type CommonPlan, type RouteContext } from "./route-plan.ts";
import { unservedOfRoute } from "./unserved-fields.ts";

export type L4Plan = CommonPlan & {
  /** The route to serve; undefined if nothing of it can be served. */
  readonly route: L4Route | undefined;
};

/**
 * Reads the single rule of such a route. A backend that cannot be resolved refuses its share of connections or
 * datagrams.
 */
export function planL4Route(
  object: ObjectOf<L4RouteKind>,
  { view, allowExternalName }: RouteContext,
): L4Plan {
  const { kind, metadata, spec } = object;
  const { namespace, name } = metadata;
  const [rule] = spec.rules;
  const diagnostics = [...unservedOfRoute(object)];
  const carried =
    kind === "UDPRoute"
      ? ({ transport: "UDP", use: "datagrams" } as const)
      : ({ transport: "TCP", use: "connections" } as const);
  const consequence =
    kind === "UDPRoute" ? "its share of datagrams is dropped" : "its share of connections is reset";
  if (areWeightless(rule?.backendRefs)) {
    const place = { object: refOf(object), field: "spec.rules[0].backendRefs" };
    const instead = kind === "UDPRoute" ? "its datagrams are dropped" : "its connections are reset";
    diagnostics.push(noBackend(place, "All backends have the weight 0", instead));
  }
  const unresolved: Fault[] = [];
  const options = { view, allowExternalName, isGrpc: false, ...carried };
  const resolved = (rule?.backendRefs ?? []).map((ref, index) => {
    const { refusal, ...read } = resolveBackendRef(ref, { kind, namespace }, options);
    const field = `spec.rules[0].backendRefs[${index}]`;
    if (refusal !== undefined) unresolved.push({ ...refusal, field, consequence });
    return read;
  });
  return {
    ...describeRoute(object),
    hosts: kind === "TLSRoute" ? hostsOf(object, diagnostics) : undefined,
    route: isClosed(object)
      ? undefined
      : {
          id: `${kind.toLowerCase()}/${namespace}/${name}:${rule?.name ?? 0}`,
          source: { kind, namespace, name },
          backends: resolved.map(({ backend: { weight, service, endpoints } }): L4Backend => ({
            weight,
            service,
            ...(endpoints !== undefined && { endpoints }),
          })),
        },
    endpointRefs: resolved.flatMap(({ endpointRef }) => endpointRef ?? []),
    unresolved,
    dropped: [],
    isUnusable: false,
    diagnostics,
    unlessAuthenticated: [],
  };
}

/** The plan of a route whose translation throws: nothing of it is served. */
export const unusableL4Route = (object: ObjectOf<L4RouteKind>): Omit<L4Plan, "diagnostics"> => ({
  ...unusable(object),
  route: undefined,
});
