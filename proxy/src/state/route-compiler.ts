import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Backend, HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import { compileFilters } from "../filters/compile.ts";
import type { FilterEnvironment } from "../filters/environment.ts";
import { compileListenerFilters } from "../filters/listener-filters.ts";
import { createBackendPicker } from "../routing/backend-picker.ts";
import type { CompiledBackend, CompiledRoute } from "../routing/compiled-route.ts";
import { compileHostTable, type HostTable, type RouteProblem } from "../routing/host-table.ts";
import type { ProxyMetrics } from "../telemetry/metrics.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** What compiled routes are connected to. */
export type RouteEnvironment = {
  readonly metrics: Pick<ProxyMetrics, "requestMetrics">;
  /** The upstream of an endpoint set as it is now; asked once per request. `clientCertificate` is that of the host. */
  readonly upstreamOf: (
    endpoints: string,
    protocol: Backend["protocol"],
    clientCertificate?: string,
  ) => () => Upstream;
  /** A number from 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly filters: FilterEnvironment;
};

export type HostOwner = { readonly group: RouteGroup; readonly port: number; readonly host: HostPattern };

/** Compiles the routes of a host of a port with everything that happens after a match. */
export function compileHost(
  { group, port, host }: HostOwner,
  resource: HostRoutes,
  environment: RouteEnvironment,
): { readonly table: HostTable; readonly problems: readonly RouteProblem[] } {
  const listener = String(port);
  const own = ofHost(resource, environment);
  const filters = compileListenerFilters(resource, own.filters);
  return compileHostTable({ group, host }, resource, (route) => compileRoute(route, listener, own), filters);
}

/** Whatever a request of the host is sent to, mirrors and external checks included, is shown the same certificate. */
function ofHost({ clientCertificate }: HostRoutes, environment: RouteEnvironment): RouteEnvironment {
  if (clientCertificate === undefined) return environment;
  const upstreamOf: FilterEnvironment["upstreamOf"] = (endpoints, protocol) =>
    environment.upstreamOf(endpoints, protocol, clientCertificate);
  return { ...environment, upstreamOf, filters: { ...environment.filters, upstreamOf } };
}

function compileRoute(route: Route, listener: string, environment: RouteEnvironment): CompiledRoute {
  const backends = route.backends.map((backend) => ({
    weight: backend.weight,
    backend: compileBackend(backend, environment),
  }));
  return {
    route,
    id: route.id,
    pattern: route.match.path.value,
    accessLog: route.accessLog !== false,
    filters: compileFilters(route.features, environment.filters),
    metrics: environment.metrics.requestMetrics(listener, route.id),
    pickBackend: createBackendPicker(backends, environment.random),
  };
}

/** A backend that names no endpoint set answers its share with its status, or with 500. */
function compileBackend(backend: Backend, environment: RouteEnvironment): CompiledBackend {
  const { endpoints, status, protocol } = backend;
  if (status !== undefined || endpoints === undefined) return { kind: "status", status: status ?? 500 };
  const current = environment.upstreamOf(endpoints, protocol);
  return {
    kind: "upstream",
    get upstream() {
      return current();
    },
    filters: compileFilters(backend.features, environment.filters),
  };
}
