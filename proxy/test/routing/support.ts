import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { CompiledRoute } from "../../src/exchange/compiled-route.ts";
import type { RouteQuery } from "../../src/exchange/route-query.ts";
import { compileHostTable, type HostTable } from "../../src/routing/host-table.ts";
import { ChangingPortTable, type OpenPortTable, PortChanges } from "../../src/routing/changing-port-table.ts";
import { Fields } from "../../src/message/fields.ts";
import { atOnce } from "../../src/timing/steps.ts";

export const route = (id: string, match: RouteMatch): Route => ({
  id,
  source: { kind: "Ingress", namespace: "ns", name: "web" },
  match,
  backends: [],
});

export const prefix = (id: string, value: string, rest: Omit<RouteMatch, "path"> = {}): Route =>
  route(id, { path: { type: "prefix", value }, ...rest });

export const exact = (id: string, value: string, rest: Omit<RouteMatch, "path"> = {}): Route =>
  route(id, { path: { type: "exact", value }, ...rest });

export const regex = (
  id: string,
  value: string,
  { whole, ...rest }: Omit<RouteMatch, "path"> & { readonly whole?: boolean } = {},
): Route => route(id, { path: { type: "regex", value, ...(whole === undefined ? {} : { whole }) }, ...rest });

/** A compiled route that cannot be served. */
export const prepared = (source: Route): CompiledRoute => ({
  id: source.id,
  group: "ingress",
  namespace: source.source.namespace,
  pattern: source.match.path.value,
  accessLog: true,
  hasOwnTimeouts: false,
  clients: undefined,
  filters: [],
  metricsOf: () => ({ count() {}, observe() {}, transferred() {}, responded() {}, connected() {} }),
  pickBackend: () => ({ kind: "status", status: 500 }),
});

export const pattern = (host: string): HostPattern => {
  if (host === "*") return { kind: "any", host };
  return { kind: host.startsWith("*.") ? "wildcard" : "exact", host };
};

export type HostCase = HostRoutes & { readonly group: RouteGroup; readonly host: string };

export const hostCase = (host: string, routes: readonly Route[], rest: Partial<HostCase> = {}): HostCase => ({
  group: "ingress",
  host,
  listener: rest.group === "gateway" ? "ns/gw/http" : "ingress",
  inherit: false,
  routes,
  ...rest,
});

export const hostTable = (source: HostCase): HostTable =>
  compileHostTable({ group: source.group, host: pattern(source.host) }, source, prepared).table;

export function portTable(hosts: readonly HostCase[]): OpenPortTable {
  const table = new ChangingPortTable();
  for (const source of hosts) setHost(table, source.group, source.host, hostTable(source));
  return table;
}

/** Changes one host of a port table, as a snapshot does. */
export function setHost(
  ofPort: ChangingPortTable,
  group: RouteGroup,
  host: string,
  table: HostTable | undefined,
): void {
  const changes = new PortChanges(ofPort);
  changes.set(group, pattern(host), table);
  ofPort.switchTo(changes);
  atOnce(ofPort.settle());
}

export const request = (path: string, rest: Partial<RouteQuery> = {}): RouteQuery => ({
  host: "example.com",
  path,
  query: "",
  method: "GET",
  headers: Fields.of([]),
  authority: "example.com",
  ...rest,
});
