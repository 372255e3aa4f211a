/**
 * Decides which proxies serve a Gateway: the shared ones, dedicated ones, or both while it moves between them.
 * See docs/dedicated-gateways.md, "Mode".
 */
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { World } from "../../../world.ts";
import type { ConditionReason } from "../../condition.ts";
import { trackedMemo } from "../../incremental/memo.ts";
import type { View } from "../../incremental/view.ts";
import type { DedicatedSettings } from "../../settings.ts";
import { requestedAddress } from "../addresses.ts";
import { readParameters, type Parameters } from "../dedicated/parameters.ts";
import { podPorts } from "../dedicated/pod-parts.ts";
import { withListeners, type PlannedGateway } from "../listeners/gateways.ts";
import {
  componentLabel,
  controllerAnnotation,
  dedicatedComponent,
  dedicatedName,
  vipComponent,
  vipName,
} from "../names.ts";

/** The proxies that serve a Gateway now, and those that should serve it. */
export type Placement = {
  /** The proxies that should serve it; undefined while that is unknown, in which case nothing is changed. */
  readonly mode: "shared" | "dedicated" | undefined;
  /**
   * Whether the shared proxies, and whether dedicated ones, have it in their snapshots. During a move both have
   * it, until it is served by the proxies that should serve it.
   */
  readonly inShared: boolean;
  readonly inDedicated: boolean;
  /** The parameters of its dedicated proxies. */
  readonly parameters: Parameters | undefined;
  /** The reason why the Gateway is not accepted; undefined if it is. */
  readonly refusal: ConditionReason | undefined;
};

export type PlacedGateway = PlannedGateway & { readonly placement: Placement };

/** The shared proxies, or those of one Gateway. */
export type Proxies =
  { readonly kind: "shared" } | { readonly kind: "dedicated"; readonly gateway: NamespacedName };

/** The proxies that the status of a Gateway refers to: those that should serve it. */
export const scopeOf = ({ gateway, placement }: PlacedGateway): Proxies => {
  const { mode, inShared, inDedicated } = placement;
  const isDedicated = mode === "dedicated" || (mode === undefined && inDedicated && !inShared);
  const { namespace, name } = gateway.metadata;
  return isDedicated ? { kind: "dedicated", gateway: { namespace, name } } : { kind: "shared" };
};

/** The settings that placement depends on, besides the objects. */
export type PlacementSettings = {
  readonly controllerName: string;
  /** Settings of dedicated proxies; undefined if there are only the shared ones. */
  readonly dedicated: DedicatedSettings | undefined;
  /** Whether a Gateway that requests dedicated proxies is not accepted. */
  readonly refusesDedicated: boolean;
  /** The namespace of the Services of Gateways of the shared proxies; undefined if they have none. */
  readonly vipNamespace: string | undefined;
};

/** Decides the placement of each Gateway. The result is the same value until it changes. */
export function createPlacer(
  settings: PlacementSettings,
): (
  gateways: readonly PlannedGateway[],
  classes: ReadonlyMap<string, ObjectOf<"GatewayClass">>,
  world: World,
) => readonly PlacedGateway[] {
  const decide = trackedMemo(
    (gateway: ObjectOf<"Gateway">, gatewayClass: ObjectOf<"GatewayClass"> | undefined, view) =>
      placementOf(gateway, gatewayClass, view, settings),
  );
  type Entry = { readonly key: string; readonly placed: PlacedGateway };
  const known = new WeakMap<PlannedGateway, Entry>();
  const keys = new WeakMap<Placement, string>();
  return (gateways, classes, world) =>
    gateways.map((planned) => {
      const { gateway } = planned;
      const placement = decide(gateway, classes.get(gateway.spec.gatewayClassName), world);
      const last = known.get(planned);
      if (last?.placed.placement === placement) return last.placed;
      const key = keys.get(placement) ?? JSON.stringify(placement);
      keys.set(placement, key);
      if (last?.key === key) return last.placed;
      const placed = { ...(placement.mode === "dedicated" ? withoutPodPorts(planned) : planned), placement };
      known.set(planned, { key, placed });
      return placed;
    });
}

function placementOf(
  gateway: ObjectOf<"Gateway">,
  gatewayClass: ObjectOf<"GatewayClass"> | undefined,
  view: View,
  settings: PlacementSettings,
): Placement {
  const { dedicated } = settings;
  const { refusal } = requestedAddress(gateway);
  const hasVip = hasSharedService(gateway, view, settings);
  const hasOwn = hasOwnService(gateway, view, settings);
  if (gatewayClass === undefined) {
    const held = { mode: undefined, inShared: hasVip, inDedicated: hasOwn, parameters: undefined };
    return { ...held, refusal: classDeleted(gateway.spec.gatewayClassName) };
  }
  if (dedicated === undefined) {
    const isRefused = settings.refusesDedicated && asksForDedicated(gateway, gatewayClass);
    const why = refusal ?? (isRefused ? noDedicated : undefined);
    if (why === undefined)
      return { mode: "shared", inShared: true, inDedicated: false, parameters: undefined, refusal: why };
    return { mode: undefined, inShared: hasVip, inDedicated: false, parameters: undefined, refusal: why };
  }
  const read = readParameters(gateway, gatewayClass, view);
  const parameters = read.ok ? read.value : undefined;
  const why = refusal ?? (read.ok ? missingImage(parameters, dedicated) : read.error);
  if (why !== undefined) {
    return { mode: undefined, inShared: hasVip, inDedicated: hasOwn, parameters: undefined, refusal: why };
  }
  if (parameters === undefined) {
    return { mode: "shared", inShared: true, inDedicated: hasOwn, parameters, refusal: undefined };
  }
  return { mode: "dedicated", inShared: hasVip, inDedicated: true, parameters, refusal: undefined };
}

const missingImage = (
  parameters: Parameters | undefined,
  { image }: DedicatedSettings,
): ConditionReason | undefined =>
  parameters === undefined || parameters.image !== undefined || image !== undefined
    ? undefined
    : {
        reason: "InvalidParameters",
        message:
          "No proxy image is set, neither in the parameters nor with --dedicated-image of the controller",
      };

const asksForDedicated = ({ spec }: ObjectOf<"Gateway">, gatewayClass: ObjectOf<"GatewayClass">): boolean =>
  spec.infrastructure?.parametersRef !== undefined || gatewayClass.spec.parametersRef !== undefined;

const noDedicated: ConditionReason = {
  reason: "InvalidParameters",
  message: "Dedicated proxies are disabled by --disable-dedicated-gateways of the controller",
};

const classDeleted = (name: string): ConditionReason => ({
  reason: "Invalid",
  message: `GatewayClass ${name} does not exist; what serves the Gateway is not changed until the class is back or the Gateway is deleted`,
});

/** Whether a Gateway has a Service for the shared proxies. */
export const hasSharedService = (
  gateway: ObjectOf<"Gateway">,
  view: Pick<View, "lookup">,
  { vipNamespace }: Pick<PlacementSettings, "vipNamespace">,
): boolean => vipNamespace !== undefined && isVip(view.lookup("Service", vipNamespace, vipName(gateway)));

/** Whether a Gateway has a Service for dedicated proxies that this controller has created. */
export const hasOwnService = (
  gateway: ObjectOf<"Gateway">,
  view: Pick<View, "lookup">,
  { dedicated, controllerName }: Pick<PlacementSettings, "dedicated" | "controllerName">,
): boolean =>
  dedicated !== undefined &&
  isServiceOf(
    gateway,
    view.lookup("Service", gateway.metadata.namespace, dedicatedName(gateway)),
    controllerName,
  );

const isVip = (service: ObjectOf<"Service"> | undefined): boolean =>
  service?.metadata.labels?.[componentLabel] === vipComponent;

/** Whether this controller has created the Service for the proxies of this Gateway, as identified by its UID. */
function isServiceOf(
  { metadata: { uid } }: ObjectOf<"Gateway">,
  service: ObjectOf<"Service"> | undefined,
  controllerName: string,
): boolean {
  const { labels, annotations, ownerReferences = [] } = service?.metadata ?? {};
  return (
    labels?.[componentLabel] === dedicatedComponent &&
    annotations?.[controllerAnnotation] === controllerName &&
    ownerReferences.some((owner) => owner.uid === uid)
  );
}

const taken: ReadonlySet<number> = new Set(Object.values(podPorts));

/** Takes listeners out of service whose port is reserved by the proxy pods. */
function withoutPodPorts(planned: PlannedGateway): PlannedGateway {
  return withListeners(planned, (listener) =>
    listener.serves && taken.has(listener.port)
      ? {
          ...listener,
          serves: false,
          unaccepted: {
            reason: "PortUnavailable",
            message: `Port ${listener.port} is reserved by the proxy pod`,
          },
        }
      : listener,
  );
}
