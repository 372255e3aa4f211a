import { isDeepStrictEqual } from "node:util";
import type { KindName } from "../../api/kinds.ts";
import { mergeConditions } from "../../runtime/conditions.ts";
import type { StatusChange } from "../../runtime/status-writer.ts";
import type { Build } from "../../runtime/table-builder.ts";
import { supportedFeaturesOf } from "../../translate/gateway/supported-features.ts";
import type { GatewayClassStatus } from "../../translate/gateway/statuses.ts";
import { memo } from "../../translate/memo.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";

/** Condition types that this controller writes about a GatewayClass. */
const owned: ReadonlySet<string> = new Set(["Accepted", "SupportedVersion"]);

type PresentStatus = { readonly conditions?: unknown; readonly supportedFeatures?: unknown };

/** Writes the status of GatewayClasses of ours; `installed` are the kinds that the cluster has. */
export function gatewayClassReconciler(installed: ReadonlySet<KindName>): Reconciler {
  const features = supportedFeaturesOf(installed).map((name) => ({ name }));
  const desiredOf = memo((status: GatewayClassStatus): DesiredStatus => ({
    object: status.object,
    change: changeOf(status, features),
  }));
  const statusesOf = memo((classes: readonly GatewayClassStatus[]) => classes.map(desiredOf));
  return statusReconciler({
    kind: "GatewayClass",
    statuses: ({ translation }: Build) => statusesOf(translation.gatewayStatuses.classes),
    release: () => () => ({}),
  });
}

function changeOf(
  { object, conditions }: GatewayClassStatus,
  features: readonly { readonly name: string }[],
): StatusChange {
  const { generation } = object.metadata;
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    return {
      conditions: mergeConditions({
        current: present.conditions,
        desired: conditions,
        owned,
        generation,
        nowMs,
      }),
      ...(!isDeepStrictEqual(present.supportedFeatures, features) && { supportedFeatures: features }),
    };
  };
}
