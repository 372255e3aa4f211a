import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import type { TlsHost, TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import type { MetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { haveSameItems } from "../translate/incremental/memo.ts";
import type { Routing } from "../translate/routing.ts";

export type TableMetrics = Pick<
  MetricSet<typeof controllerMetrics>,
  "routingTableHosts" | "routingTableRoutes" | "tlsCertsLoaded"
>;

/** Counts the content of the tables of all scopes, based on the differences from the previous ones. */
export function createTableCounter(metrics: TableMetrics): (tables: readonly Routing[]) => void {
  const countRoutes = createRouteCounter(metrics);
  let lastTls: readonly TlsPort[] = [];
  return (tables) => {
    const [first] = tables;
    countRoutes(
      tables.length === 1 && first !== undefined ? first.hosts : tables.flatMap(({ hosts }) => hosts),
    );
    const ports = tables.flatMap(({ tls }) => [...tls.values()]);
    if (lastTls.length > 0 && haveSameItems(lastTls, ports)) return;
    lastTls = ports;
    countCertificates(ports, metrics);
  };
}

/**
 * Counts as proxies do: host names with routes, and route ids, each once, regardless of the number of ports or hosts
 * that have them.
 */
function createRouteCounter(metrics: TableMetrics): (hosts: Routing["hosts"]) => void {
  const names = createUseCounts();
  const routes = { ingress: createUseCounts(), gateway: createUseCounts() };
  let last: Routing["hosts"] = [];
  return (hosts) => {
    const { removed, added } = listChanges(last, hosts);
    last = hosts;
    names.add(namesOf(added));
    names.remove(namesOf(removed));
    for (const { group, value } of added) routes[group].add(value.routes.map(({ id }) => id));
    for (const { group, value } of removed) routes[group].remove(value.routes.map(({ id }) => id));
    metrics.routingTableHosts.with({}).set(names.size);
    for (const kind of ["ingress", "gateway"] as const) {
      metrics.routingTableRoutes.with({ kind }).set(routes[kind].size);
    }
  };
}

const namesOf = (hosts: Routing["hosts"]): readonly string[] =>
  hosts.filter(({ value }) => value.routes.length > 0).map(({ host }) => host.host);

const buckets: readonly TlsHost["bucket"][] = ["exact", "wildcard", "default"];

/**
 * Counts as proxies do: the server names of each bucket, each once, regardless of the number of ports and certificates.
 */
function countCertificates(ports: readonly TlsPort[], metrics: TableMetrics): void {
  const served = new Map(buckets.map((bucket) => [bucket, new Set<string>()]));
  for (const { hosts } of ports) {
    for (const { bucket, host } of hosts) served.get(bucket)?.add(host);
  }
  for (const [bucket, names] of served) metrics.tlsCertsLoaded.with({ bucket }).set(names.size);
}
