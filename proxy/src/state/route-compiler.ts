import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Backend, HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { CompiledBackend } from "../exchange/compiled-route.ts";
import type { Filter } from "../exchange/filter.ts";
import { compileFilters } from "../filters/compile.ts";
import type { FilterEnvironment } from "../filters/environment.ts";
import { compileListenerFilters } from "../filters/listener-filters.ts";
import { withDefaultTimeout } from "../filters/timeouts.ts";
import { compileBalancing } from "../routing/compile-balancing.ts";
import { compileHostTable, type HostTable, type RouteProblem } from "../routing/host-table.ts";
import type { ObserverOf } from "../telemetry/observer.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { ServedRoute, ServedUpstream, type RequestMetricsSource } from "./compiled-parts.ts";

/** The dependencies of compiled routes. */
export type RouteEnvironment = {
  readonly metrics: RequestMetricsSource;
  /** Returns a getter of the current upstream, called once per request. `clientCertificate` is that of the host. */
  readonly upstreamOf: (
    endpoints: string,
    protocol: Backend["protocol"],
    clientCertificate?: string,
  ) => () => Upstream;
  /** A number from 0 to 1, 1 excluded. */
  readonly random: () => number;
  readonly filters: FilterEnvironment;
  /** The limit of an attempt if a rule does not set one, in milliseconds; 0 for none. */
  readonly defaultBackendTimeoutMs: number;
  /** Creates the observers of routes with their own logging or tracing settings; if absent, these are ignored. */
  readonly observerOf?: ObserverOf | undefined;
};

export type HostOwner = { readonly group: RouteGroup; readonly port: number; readonly host: HostPattern };

export type CompiledHost = { readonly table: HostTable; readonly problems: readonly RouteProblem[] };

/**
 * Creates a compiler for the hosts of one update, including filters and backends. Equal parts are compiled once: the
 * table of a host that several ports serve from the same resource value, the filters of equal features, the links to
 * one endpoint set.
 */
export function createHostCompiler(
  environment: RouteEnvironment,
): (owner: HostOwner, resource: HostRoutes) => CompiledHost {
  const compiled = new Map<HostRoutes, CompiledHost>();
  /** The compilers of parts, by client certificate. */
  const parts = new Map<string | undefined, PartCompiler>();
  return ({ group, host }, resource) => {
    const known = compiled.get(resource);
    if (known?.table.group === group && known.table.host.host === host.host) return known;
    const { clientCertificate } = resource;
    let own = parts.get(clientCertificate);
    if (own === undefined)
      parts.set(clientCertificate, (own = new PartCompiler(environment, clientCertificate)));
    const compiler = own;
    const filters = compileListenerFilters(resource, compiler.environment.filters);
    const result = compileHostTable(
      { group, host },
      resource,
      (route) => compiler.route(group, route),
      filters,
    );
    compiled.set(resource, result);
    return result;
  };
}

/** Compiles the parts of routes whose proxy presents the same client certificate to backends. */
class PartCompiler {
  readonly environment: RouteEnvironment;
  private readonly filtersByText = new Map<string, readonly Filter[]>();
  private readonly upstreams = new Map<string, ServedUpstream>();

  constructor(environment: RouteEnvironment, clientCertificate: string | undefined) {
    this.environment = ofHost(clientCertificate, environment);
  }

  route(group: RouteGroup, route: Route): ServedRoute {
    const backends = route.backends.map((backend) => ({
      weight: backend.weight,
      backend: this.backend(backend),
    }));
    const features = withDefaultTimeout(route.features, this.environment.defaultBackendTimeoutMs);
    return new ServedRoute(group, route, this.filters(features), backends, this.environment);
  }

  /** Compiles a backend. Without an endpoint set, its share of requests is answered with its status, or with 500. */
  private backend(backend: Backend): CompiledBackend {
    const { endpoints, secureEndpoints, status, fault, protocol, features, closes, unbound, balancing } =
      backend;
    if (status !== undefined || endpoints === undefined) {
      return { kind: "status", status: status ?? 500, ...(fault && { fault }) };
    }
    const create = (): ServedUpstream => {
      const filters = this.filters(features);
      const options = { closes, unbound, balancing: balancing && compileBalancing(balancing) };
      const upstreamOf = (name: string): (() => Upstream) => this.environment.upstreamOf(name, protocol);
      const whenSecure =
        secureEndpoints === undefined
          ? undefined
          : new ServedUpstream(upstreamOf(secureEndpoints), filters, options);
      return new ServedUpstream(upstreamOf(endpoints), filters, { ...options, whenSecure });
    };
    if (features !== undefined) return create();
    const key = [
      ...[protocol, endpoints, secureEndpoints ?? "", String(closes), String(unbound)],
      balancing === undefined ? "" : JSON.stringify(balancing),
    ].join(" ");
    return remember(this.upstreams, key, create);
  }

  /** Returns the filters for features. Equal features share filters, which keep their state by the id of the route. */
  private filters(features: RouteFeatures | undefined): readonly Filter[] {
    return remember(this.filtersByText, features === undefined ? "" : JSON.stringify(features), () =>
      compileFilters(features, this.environment.filters),
    );
  }
}

function remember<Value>(known: Map<string, Value>, key: string, create: () => Value): Value {
  let value = known.get(key);
  if (value === undefined) known.set(key, (value = create()));
  return value;
}

/** All upstreams of a host, including mirrors and authorization services, get the same client certificate. */
function ofHost(clientCertificate: string | undefined, environment: RouteEnvironment): RouteEnvironment {
  if (clientCertificate === undefined) return environment;
  const upstreamOf: FilterEnvironment["upstreamOf"] = (endpoints, protocol) =>
    environment.upstreamOf(endpoints, protocol, clientCertificate);
  return { ...environment, upstreamOf, filters: { ...environment.filters, upstreamOf } };
}
