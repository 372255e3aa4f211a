import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { WatchHealth } from "../lifecycle/watch-health.ts";
import { sharedScope } from "../translate/size/object-size.ts";
import type { Translation } from "../translate/translation.ts";

export type SizeReportOptions = {
  readonly metrics: Pick<MetricSet<typeof controllerMetrics>, "snapshotBytes">;
  readonly watchHealth: Pick<WatchHealth, "onLimit">;
  /** The largest allowed snapshot of a scope. */
  readonly maxScopeBytes: number;
};

/** The largest number of namespaces of a scope with a series. */
const maxNamespaces = 10;
/** The share of the limit from which the health check is degraded. */
const nearLimit = 0.8;

/**
 * Reports the sizes of snapshots: the largest namespaces of each scope, and everything else except routes and
 * certificates of Gateways under the empty name. The health check is degraded from 80 percent of the limit on. See
 * docs/routing.md, "Size".
 */
export function createSizeReport({
  metrics: { snapshotBytes },
  watchHealth,
  maxScopeBytes,
}: SizeReportOptions): (translation: Pick<Translation, "sizes" | "certificateBytes" | "scopes">) => void {
  let reported = new Set<string>();
  return ({ sizes, certificateBytes, scopes }) => {
    const present = new Set<string>();
    const report = (scope: string, namespace: string, bytes: number): void => {
      present.add(seriesOf(scope, namespace));
      snapshotBytes.with({ scope, namespace }).set(bytes);
    };
    const others = new Map([
      [sharedScope, bytesBesidesRoutes(scopes.shared)],
      ...scopes.dedicated.map(
        ({ gateway, resources }) =>
          [`${gateway.namespace}/${gateway.name}`, bytesBesidesRoutes(resources)] as const,
      ),
    ]);
    let isNear = false;
    for (const [scope, besides] of others) {
      const other = Math.max(0, besides - (certificateBytes.get(scope) ?? 0));
      const namespaces = sizes.get(scope) ?? [];
      for (const { namespace, bytes } of namespaces.slice(0, maxNamespaces)) report(scope, namespace, bytes);
      report(scope, "", other);
      const total = namespaces.reduce((sum, { bytes }) => sum + bytes, other);
      isNear ||= total >= nearLimit * maxScopeBytes;
    }
    if ([...reported].some((series) => !present.has(series))) {
      snapshotBytes.remove(({ scope, namespace }) => !present.has(seriesOf(scope, namespace)));
    }
    reported = present;
    watchHealth.onLimit("snapshot size", isNear);
  };
}

/** The key of a series; names of scopes and namespaces contain no spaces. */
const seriesOf = (scope: string, namespace: string): string => `${scope} ${namespace}`;

/**
 * The size of resources that belong to no namespace, in characters, because nearly all of these resources are ASCII.
 * The certificates that a Gateway presents to backends count for its namespace.
 */
const bytesBesidesRoutes = (resources: readonly Resource[]): number =>
  resources.reduce((sum, { key, body }) => (isOfNamespace(key) ? sum : sum + body.length), 0);

const isOfNamespace = (key: string): boolean => key.startsWith("route|") || key.startsWith("backendcert|");
