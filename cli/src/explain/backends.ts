/** Describes the backends of a route, and the connections to them. */
import type { LoadBalancer } from "@svc-gateway/common/features/backend-policy.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { templateText } from "@svc-gateway/common/features/request-template.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatEndpoint } from "@svc-gateway/common/values/endpoint.ts";
import { presentFeatures } from "@svc-gateway/proxy/filters/compile.ts";
import type { TranslatedFolder } from "../translate-folder.ts";

export type ExplainedFilter = { readonly name: string; readonly settings: unknown };

export type ExplainedBackend = {
  /** The Service as `namespace/name`; empty when there is none. */
  readonly service: string;
  /** The share of the route's requests, in per cent. */
  readonly share: number;
  readonly protocol: Backend["protocol"];
  /** The source of the TLS settings, such as `BackendTLSPolicy namespace/name`; absent for cleartext. */
  readonly tls?: string;
  /** The endpoints as `address:port`, or `name:port` if the proxy resolves the name. */
  readonly endpoints: readonly string[];
  /** How one of the endpoints is chosen; absent for round robin. */
  readonly balancing?: string;
  /** The status with which requests are answered instead of being forwarded. */
  readonly status?: number;
  readonly filters: readonly ExplainedFilter[];
};

/** The backends of a route for a request that arrived with TLS (`secure`) or without. */
export const explainBackends = (
  { backends }: Route,
  folder: TranslatedFolder,
  secure: boolean,
): readonly ExplainedBackend[] =>
  backends.map((backend) => {
    const { service, weight, protocol, status, features, balancing } = backend;
    const name = (secure ? backend.secureEndpoints : undefined) ?? backend.endpoints;
    const set = setOf(name, folder);
    const tls = set?.tlsFollowsClient === true && !secure ? undefined : set?.tls;
    const chosen = balancing === undefined ? ofService(set) : describeBalancing(balancing);
    return {
      service,
      share: shareOf(weight, backends),
      protocol: set?.protocol ?? protocol,
      ...(tls !== undefined && { tls: tlsSource(tls) }),
      endpoints: endpointsOf(name, folder),
      ...(chosen !== undefined && { balancing: chosen }),
      ...(status === undefined ? {} : { status }),
      filters: describeFilters(features),
    };
  });

const setOf = (name: string | undefined, { translation }: TranslatedFolder): EndpointSet | undefined =>
  name === undefined ? undefined : findEntry(translation.routing.endpoints, name)?.set;

/** Describes the source of TLS settings by their name. Only BackendTLSPolicies have names that users know. */
export function tlsSource(name: string): string {
  if (name.startsWith("ingress-nginx/")) return "annotations of ingress-nginx";
  return name.startsWith("SvcBackendPolicy/") ? "a SvcBackendPolicy" : `BackendTLSPolicy ${name}`;
}

const ofService = (set: EndpointSet | undefined): string | undefined =>
  set?.balancing === undefined
    ? describeLoadBalancer(set?.policy?.loadBalancer)
    : describeBalancing(set.balancing);

function describeBalancing(balancing: Balancing): string | undefined {
  if (balancing.algorithm !== "hash") return describeLoadBalancer(balancing);
  const { key, subset } = balancing;
  return `hash of ${templateText(key)}${subset === undefined ? "" : `, any of ${subset} endpoints`}`;
}

function describeLoadBalancer(settings: LoadBalancer | undefined): string | undefined {
  if (settings === undefined || settings.algorithm === "round_robin") return undefined;
  if (settings.algorithm !== "hash") return settings.algorithm;
  const { key } = settings;
  return "name" in key ? `hash:${key.from}=${key.name}` : `hash:${key.from}`;
}

/** The filters of a route, in the order in which they run. */
export const describeFilters = (features: RouteFeatures | undefined): readonly ExplainedFilter[] =>
  presentFeatures(features).map((slug) => ({ name: slug, settings: features?.[slug] }));

/** The share of a weight, in per cent with one decimal. */
export function shareOf(weight: number, backends: readonly { readonly weight: number }[]): number {
  const total = backends.reduce((sum, one) => sum + one.weight, 0);
  return total === 0 ? 0 : Math.round((1000 * weight) / total) / 10;
}

/** The endpoints of a set, as `address:port`. */
export const endpointsOf = (name: string | undefined, folder: TranslatedFolder): readonly string[] =>
  (setOf(name, folder)?.addresses ?? []).map((endpoint) => formatEndpoint(endpoint));
