import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshotBuilder } from "@svc-gateway/common/ir/snapshot-builder.ts";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { KeySetKeeper } from "../jwks/key-set-keeper.ts";
import type { ClusterSource } from "../sources/kubernetes/cluster-source.ts";
import type { TranslateSettings } from "../translate/settings.ts";
import { translate } from "../translate/translate.ts";
import type { Translation } from "../translate/translation.ts";
import type { World } from "../world.ts";
import { createTableCounter, type TableMetrics } from "./table-metrics.ts";

/** One build of the routing table: what was read, and what came of it. */
export type Build = { readonly world: World; readonly translation: Translation };

type BuildMetrics = TableMetrics &
  Pick<MetricSet<typeof controllerMetrics>, "routingTableRebuilds" | "routingTableRebuildDuration">;

export type TableBuilderOptions = {
  readonly source: Pick<ClusterSource, "ready" | "world">;
  readonly settings: TranslateSettings;
  /** Fetches the key sets that tokens are checked with. */
  readonly keySets: Pick<KeySetKeeper, "fetched" | "want">;
  /** Hands the shared scope's snapshot to the discovery channel. */
  readonly publish: (shared: Snapshot) => void;
  /** What the shared scope gets besides what the translation gives, from the same world. */
  readonly addResources?: (world: World) => readonly Resource[];
  /** Everything else that follows from a build. */
  readonly onBuild: (build: Build) => void;
  readonly metrics: BuildMetrics;
  readonly log: Logger;
  /** Wall clock, by which certificates expire. */
  readonly nowMs?: () => number;
};

/**
 * Makes the function that builds the routing table from the present world and publishes it. Before every watch has
 * listed once it does nothing; a build that fails leaves the last table in place.
 */
export function createTableBuilder(options: TableBuilderOptions): () => void {
  const { source, settings, metrics, log, nowMs = Date.now } = options;
  const buildSnapshot = createSnapshotBuilder();
  let published: Snapshot | undefined;
  const countTable = createTableCounter(metrics);

  const publish = (shared: Snapshot, startedMs: number): void => {
    const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
    const fields = {
      version: shared.version,
      resources: shared.resources.keys.length,
      duration_ms: durationMs,
    };
    if (published?.version === shared.version)
      return log.debug(fields, "routing table built, nothing changed");
    const isFirst = published === undefined;
    published = shared;
    options.publish(shared);
    // The first table is a change of state; later ones are the daily business.
    log[isFirst ? "info" : "debug"](fields, "snapshot published");
  };

  return () => {
    if (!source.ready) return;
    const startedMs = performance.now();
    const world = source.world();
    let translation: Translation;
    let shared: Snapshot;
    try {
      translation = translate(world, settings, { nowMs: nowMs(), keySets: options.keySets.fetched });
      shared = buildSnapshot([...translation.scopes.shared, ...(options.addResources?.(world) ?? [])]);
    } catch (error) {
      metrics.routingTableRebuilds.with({ result: "error" }).inc();
      log.error({ err: error }, "routing table cannot be built, the last one stays");
      return;
    }
    metrics.routingTableRebuilds.with({ result: "ok" }).inc();
    metrics.routingTableRebuildDuration.with({}).observe((performance.now() - startedMs) / 1000);
    publish(shared, startedMs);
    options.keySets.want(translation.wantedKeySets);
    countTable(translation.routing);
    options.onBuild({ world, translation });
  };
}
