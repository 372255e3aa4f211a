/**
 * SvcGatewayParameters: the settings of a Gateway's dedicated proxies. See docs/dedicated-gateways.md, "Parameters".
 */
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type {
  SvcGatewayParametersAutoscaling as Autoscaling,
  SvcGatewayParametersResources as Resources,
  SvcGatewayParametersSpec as Spec,
} from "../../../api/generated/svcgatewayparameters.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { isStandIn } from "../../../api/stand-in.ts";
import type { ConditionReason } from "../../condition.ts";
import { parametersIgnored } from "../../diagnostics/gateway.ts";
import { describeUnusable } from "../../diagnostics/references.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import { quoteKind } from "../../text.ts";
import { overlayOf, type Overlay } from "./overlay.ts";

/** The parameters of a Gateway, on top of those of its class. */
export type Parameters = {
  readonly replicas: number;
  readonly resources: Resources | undefined;
  readonly image: string | undefined;
  readonly serviceType: NonNullable<Spec["serviceType"]>;
  /** The overlays to merge into the pod template, in this order. */
  readonly overlays: readonly Overlay[];
  readonly autoscaling: Scaling | undefined;
};

/** The limits and the target of an autoscaler. */
export type Scaling = {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly targetCpuPercent: number;
};

const group = "gateway.svc-labs.dev";
const kind = "SvcGatewayParameters";

type Reference = {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
};

/**
 * Reads the parameters of a Gateway; undefined if neither it nor its class names any, in which case the shared
 * proxies serve it. The refusal names the reference that cannot be resolved, or the invalid part of a podTemplate.
 */
export function readParameters(
  gateway: ObjectOf<"Gateway">,
  gatewayClass: ObjectOf<"GatewayClass">,
  view: View,
): Result<Parameters | undefined, ConditionReason> {
  const ofClass = readClassParameters(gatewayClass, view);
  if (!ofClass.ok) return ofClass;
  const own = gateway.spec.infrastructure?.parametersRef;
  const ofGateway = read(
    own && { ...own, namespace: gateway.metadata.namespace },
    "spec.infrastructure.parametersRef",
    view,
  );
  if (!ofGateway.ok) return ofGateway;
  const layers = [ofClass.value, ofGateway.value].filter((layer) => layer !== undefined);
  if (layers.length === 0) return ok(undefined);
  const spec = Object.assign({}, ...layers.map((layer) => layer.spec)) as Spec;
  return ok({
    replicas: spec.replicas ?? 1,
    resources: spec.resources,
    image: spec.image,
    serviceType: spec.serviceType ?? "LoadBalancer",
    overlays: layers.flatMap(({ overlay }) => overlay ?? []),
    autoscaling: scalingOf(spec.autoscaling),
  });
}

type Layer = { readonly spec: Spec; readonly overlay: Overlay | undefined };

/**
 * The parameters that a class names. A reference that cannot be resolved makes the class unusable for new Gateways.
 */
export const readClassParameters = (
  { spec: { parametersRef: ref } }: ObjectOf<"GatewayClass">,
  view: View,
): Result<Layer | undefined, ConditionReason> =>
  read(ref && { ...ref, namespace: ref.namespace }, "parametersRef of the GatewayClass", view);

function read(
  ref: Reference | undefined,
  field: string,
  view: View,
): Result<Layer | undefined, ConditionReason> {
  if (ref === undefined) return ok(undefined);
  if (ref.group !== group || ref.kind !== kind) {
    return invalid(`${field} names a ${quoteKind(ref)}, expected ${group}/${kind}`);
  }
  if (ref.namespace === undefined) return invalid(`${field} needs a namespace`);
  const name = `${ref.namespace}/${ref.name}`;
  const found = view.lookup(kind, ref.namespace, ref.name);
  if (found === undefined || isStandIn(found)) {
    return invalid(`${field}: ${describeUnusable(`${kind} ${name}`, found)}`);
  }
  const overlay = overlayOf(found.spec.podTemplate);
  if (!overlay.ok) return invalid(`${kind} ${name}: ${overlay.error}`);
  return ok({ spec: withoutUndefined(found.spec), overlay: overlay.value });
}

const invalid = (message: string): Result<never, ConditionReason> =>
  fail({ reason: "InvalidParameters", message });

/** Removes fields without a value, which set nothing. */
const withoutUndefined = (spec: Spec): Spec =>
  Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined && value !== null));

/** Findings about parameters in a process with a single proxy, where they have no effect. */
export const parametersWithoutEffect = (
  gateways: readonly { readonly gateway: ObjectOf<"Gateway"> }[],
  classes: ReadonlyMap<string, ObjectOf<"GatewayClass">>,
): readonly Diagnostic[] =>
  gateways.flatMap(({ gateway }) => {
    const { infrastructure, gatewayClassName } = gateway.spec;
    const own = infrastructure?.parametersRef;
    if (own === undefined && classes.get(gatewayClassName)?.spec.parametersRef === undefined) return [];
    const field = own === undefined ? "spec.gatewayClassName" : "spec.infrastructure.parametersRef";
    return [parametersIgnored({ object: refOf(gateway), field })];
  });

function scalingOf({
  enabled,
  minReplicas = 1,
  maxReplicas = 10,
  targetCPUUtilizationPercentage: targetCpuPercent = 80,
}: Autoscaling = {}): Scaling | undefined {
  if (enabled !== true) return undefined;
  return { minReplicas, maxReplicas: Math.max(minReplicas, maxReplicas), targetCpuPercent };
}
