import { setImmediate as nextTurn } from "node:timers/promises";
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { ownPortsKey } from "@svc-gateway/common/ir/keys.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshotBuilder } from "@svc-gateway/common/ir/snapshot-builder.ts";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { scopeKey } from "../discovery/principals.ts";
import type { KeySetKeeper } from "../jwks/key-set-keeper.ts";
import type { AbsentObject } from "../sources/kubernetes/absent-objects.ts";
import type { ClusterSource } from "../sources/kubernetes/cluster-source.ts";
import { memo } from "../translate/incremental/memo.ts";
import type { TranslateSettings } from "../translate/settings.ts";
import { translate } from "../translate/translate.ts";
import type { Translation } from "../translate/translation.ts";
import type { World } from "../world.ts";
import { createCertificateKeeper } from "./certificate-keeper.ts";
import { createTableCounter, type TableMetrics } from "./table-metrics.ts";

/** The snapshot for the proxies of a scope. */
export type ScopedSnapshot = readonly [ProxyScope, Snapshot];

/** One build of the routing table: its world and its translation. */
export type Build = {
  readonly world: World;
  readonly translation: Translation;
  /** Objects that the world lacks because their namespace exceeds its memory budget. */
  readonly leftOut?: readonly AbsentObject[];
};

type BuildMetrics = TableMetrics &
  Pick<
    MetricSet<typeof controllerMetrics>,
    "routingTableRebuilds" | "routingTableRebuildDuration" | "keptCertificates" | "unprotectedPaths"
  >;

export type TableBuilderOptions = {
  readonly source: Pick<ClusterSource, "ready" | "world"> & Partial<Pick<ClusterSource, "leftOut">>;
  readonly settings: TranslateSettings;
  /** Fetches the key sets with which tokens are verified. */
  readonly keySets: Pick<KeySetKeeper, "fetched" | "want">;
  /** The ports of the gateway's pods; undefined until they are known, and until then nothing is built. */
  readonly ownPorts?: () => OwnPorts | undefined;
  /** The Leases that an ingress-nginx in the cluster renews, as `namespace/name`. */
  readonly ingressNginxLeases?: () => readonly string[];
  /** Passes the snapshots of all scopes to the discovery channel. */
  readonly publish: (snapshots: readonly ScopedSnapshot[]) => void;
  /** Called before anything is published, with the Gateways that have dedicated proxies. */
  readonly admit?: (dedicated: Translation["scopes"]["dedicated"]) => void;
  /** Resources of a scope in addition to those of the translation, from the same world. */
  readonly addResources?: (world: World, scope: ProxyScope) => readonly Resource[];
  /** Called after a build for all other consequences. */
  readonly onBuild: (build: Build) => void;
  readonly metrics: BuildMetrics;
  readonly log: Logger;
  /** The wall clock, which determines when certificates expire. */
  readonly nowMs?: () => number;
};

/**
 * Creates the function that builds the routing table from the present world and publishes it. It does nothing until
 * every watch has listed once. If a build fails, the last table remains in service. Snapshots are sent first: all other
 * consequences of a build wait until the event loop has sent them. Only one build may run at a time.
 */
export function createTableBuilder(options: TableBuilderOptions): () => Promise<void> {
  const { source, settings, metrics, log, nowMs = Date.now } = options;
  const buildSnapshots = createSnapshotBuilders();
  let published: readonly ScopedSnapshot[] | undefined;
  const countTable = createTableCounter(metrics);
  const certificates = createCertificateKeeper();

  const publish = (snapshots: readonly ScopedSnapshot[], startedMs: number): void => {
    const durationMs = Math.round((performance.now() - startedMs) * 10) / 10;
    const fields = {
      version: snapshots[0]?.[1].version,
      resources: snapshots.reduce((sum, [, { resources }]) => sum + resources.keys.length, 0),
      duration_ms: durationMs,
      ...(snapshots.length > 1 && { dedicated: snapshots.length - 1 }),
    };
    if (published !== undefined && areEqual(published, snapshots))
      return log.debug(fields, "routing table built, nothing changed");
    const isFirst = published === undefined;
    published = snapshots;
    options.publish(snapshots);
    // Only the first table is a change of state.
    log[isFirst ? "info" : "debug"](fields, "snapshot published");
  };

  return async () => {
    const ownPorts = options.ownPorts === undefined ? noOwnPorts : options.ownPorts();
    if (!source.ready || ownPorts === undefined) return;
    const startedMs = performance.now();
    const translatedMs = nowMs();
    const world = certificates.keep(source.world(), translatedMs);
    const leftOut = source.leftOut?.() ?? [];
    let translation: Translation;
    let snapshots: readonly ScopedSnapshot[];
    try {
      translation = translate(world, settings, {
        nowMs: translatedMs,
        keySets: options.keySets.fetched,
        ownPorts,
        reportsInvalid: true,
        ...(options.ingressNginxLeases && { ingressNginxLeases: options.ingressNginxLeases() }),
      });
      snapshots = buildSnapshots(translation.scopes, (scope) => [
        ...(options.addResources?.(world, scope) ?? []),
        ...(ownPorts === noOwnPorts ? [] : [encodeResource(ownPortsKey, translation.ownPorts)]),
      ]);
    } catch (error) {
      metrics.routingTableRebuilds.with({ result: "error" }).inc();
      log.error({ err: error }, "routing table build failed, the last table stays in service");
      return;
    }
    metrics.routingTableRebuilds.with({ result: "ok" }).inc();
    metrics.routingTableRebuildDuration.with({}).observe((performance.now() - startedMs) / 1000);
    options.admit?.(translation.scopes.dedicated);
    publish(snapshots, startedMs);
    await nextTurn();
    options.keySets.want(translation.wantedKeySets);
    countTable([translation.routing, ...translation.scopes.dedicated.map(({ routing }) => routing)]);
    metrics.keptCertificates.with({}).set(certificates.count);
    metrics.unprotectedPaths.with({}).set(countUnprotected(translation.nginxReports));
    options.onBuild({ world: translation.world, translation, leftOut });
  };
}

/** The number of paths that are served without a protection that they request. */
export const countUnprotected = memo((reports: Translation["nginxReports"]) =>
  reports.reduce((sum, { unprotectedPaths }) => sum + unprotectedPaths, 0),
);

/** Builds the snapshots of all scopes, with one builder for each scope while the scope exists. */
function createSnapshotBuilders(): (
  scopes: Translation["scopes"],
  additions: (scope: ProxyScope) => readonly Resource[],
) => readonly ScopedSnapshot[] {
  let builders = new Map<string, ReturnType<typeof createSnapshotBuilder>>();
  return ({ shared, dedicated }, additions) => {
    const next: typeof builders = new Map();
    const build = (scope: ProxyScope, resources: readonly Resource[]): ScopedSnapshot => {
      const key = scopeKey(scope);
      const builder = builders.get(key) ?? createSnapshotBuilder();
      next.set(key, builder);
      return [scope, builder(joinLists(resources, additions(scope)))];
    };
    const snapshots = [
      build({ kind: "shared" }, shared),
      ...dedicated.map(({ gateway, resources }) => build({ kind: "dedicated", gateway }, resources)),
    ];
    builders = next;
    return snapshots;
  };
}

const areEqual = (a: readonly ScopedSnapshot[], b: readonly ScopedSnapshot[]): boolean =>
  a.length === b.length &&
  a.every(([scope, { version }], index) => {
    const [otherScope, other] = b[index] ?? [];
    return other?.version === version && otherScope !== undefined && scopeKey(otherScope) === scopeKey(scope);
  });
