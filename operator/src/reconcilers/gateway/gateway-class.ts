import { isDeepStrictEqual } from "node:util";
import type { KindName } from "../../api/kinds.ts";
import type { Build } from "../../build/table-builder.ts";
import type { GatewayFields } from "../../sources/kubernetes/gateway-fields.ts";
import type { GatewayClassStatus } from "../../translate/gateway/status/statuses.ts";
import { supportedFeaturesOf } from "../../translate/gateway/status/supported-features.ts";
import { memo } from "../../translate/incremental/memo.ts";
import { mergeConditions } from "../../write/conditions.ts";
import type { StatusChange } from "../../write/status-writer.ts";
import type { Reconciler } from "../reconciler.ts";
import { statusReconciler, type DesiredStatus } from "../status-reconciler.ts";

/** Condition types that this controller writes about a GatewayClass. */
const owned: ReadonlySet<string> = new Set(["Accepted", "SupportedVersion"]);

type PresentStatus = { readonly conditions?: unknown; readonly supportedFeatures?: unknown };

/**
 * Writes the status of our GatewayClasses; `installed` are the kinds of the cluster, `fields` the fields of their
 * definitions.
 */
export function gatewayClassReconciler(
  installed: ReadonlySet<KindName>,
  fields: Pick<GatewayFields, "has" | "isKnown" | "subscribe">,
): Reconciler {
  const features = (): Features | undefined =>
    fields.isKnown() ? supportedFeaturesOf(installed, fields.has).map((name) => ({ name })) : undefined;
  const desiredOf = memo((status: GatewayClassStatus): DesiredStatus => ({
    object: status.object,
    change: changeOf(status, features),
  }));
  const statusesOf = memo((classes: readonly GatewayClassStatus[]) => classes.map(desiredOf));
  let latest: readonly DesiredStatus[] = [];
  return {
    ...statusReconciler({
      kind: "GatewayClass",
      statuses: ({ translation }: Build) => (latest = statusesOf(translation.gatewayStatuses.classes)),
      release: () => () => ({}),
    }),
    subscribe: (look) =>
      fields.subscribe(() => {
        for (const { object } of latest) look(object.metadata.name);
      }),
  };
}

type Features = readonly { readonly name: string }[];

function changeOf(
  { object, conditions }: GatewayClassStatus,
  featuresOf: () => Features | undefined,
): StatusChange {
  const { generation } = object.metadata;
  return (current, nowMs) => {
    const present = (current ?? {}) as PresentStatus;
    // Until the features are known, those of an earlier run of the controller are kept.
    const features = featuresOf() ?? present.supportedFeatures;
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
