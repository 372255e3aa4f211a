/** Extracts from a translation how each path of each Ingress is served, on each of its hosts. */
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { backendTlsKey, type RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";

/** Returns an endpoint set by its name. */
export type EndpointsOf = (name: string) => EndpointSet | undefined;

/** Returns TLS settings by their name. */
export type TlsOf = (name: string) => BackendTls | undefined;

/** The parts of a translation that units are extracted from. */
type Served = Pick<Translation, "routing" | "scopes">;

/** One path on one host. */
export type ServedUnit = {
  /** `namespace/name` of the Ingress. */
  readonly ingress: string;
  /** The host, in the form of a rule; `*` for every host. */
  readonly host: string;
  /** The part of the Ingress: `rule.path` by position, `default`, `app-root` or `www`. */
  readonly part: string;
  readonly route: Route;
  readonly ofHost: Omit<HostRoutes, "routes" | "listener" | "filters">;
  /** The positions of the path in the order of the host; a regular expression can have two. */
  readonly places: readonly number[];
  /** The matches of the path, one for each position. */
  readonly matches: readonly RouteMatch[];
  /** Finds the endpoint sets of its backends, with the policies of their Services. */
  readonly endpointsOf: EndpointsOf;
  /** Finds the TLS settings that endpoint sets name. */
  readonly tlsOf: TlsOf;
};

/** The key of a unit among those of a translation. */
export const unitKey = (ingress: string, host: string, part: string): string => `${ingress} ${host} ${part}`;

/**
 * The units of all Ingresses by their keys, in the order in which their hosts try them. All ports of Ingresses serve
 * alike, so they are not distinguished.
 */
export function servedUnits(translation: Served): ReadonlyMap<string, ServedUnit> {
  return collect(translation, "ingress", ({ id, source: { kind, namespace, name } }, host) => {
    const prefix = `ingress/${namespace}/${name}:`;
    if (kind !== "Ingress" || !id.startsWith(prefix)) return [];
    const part = id.slice(prefix.length);
    return [{ ingress: `${namespace}/${name}`, part, key: unitKey(`${namespace}/${name}`, host, part) }];
  });
}

/** The units of rules of routes, on each port and host that serves them, by the key `port id host`. */
export function servedRules(translation: Served): ReadonlyMap<string, ServedUnit> {
  return collect(translation, "gateway", ({ id, source: { namespace, name } }, host, ports) =>
    ports.map((port) => ({ ingress: `${namespace}/${name}`, part: id, key: `${port} ${id} ${host}` })),
  );
}

type Named = Pick<ServedUnit, "ingress" | "part"> & { readonly key: string };

function collect(
  { routing, scopes }: Served,
  of: RouteGroup,
  namesOf: (route: Route, host: string, ports: readonly number[]) => readonly Named[],
): ReadonlyMap<string, ServedUnit> {
  const units = new Map<string, ServedUnit>();
  const endpointsOf: EndpointsOf = (name) => findEntry(routing.endpoints, name)?.set;
  const tlsOf = createTlsReader(scopes);
  for (const { group, host, value, ports } of routing.hosts) {
    if (group !== of) continue;
    const { routes, listener: _, filters: __, ...ofHost } = value;
    for (const [place, route] of routes.entries()) {
      for (const { key, ingress, part } of namesOf(route, host.host, ports)) {
        const before = units.get(key);
        units.set(key, {
          ingress,
          host: host.host,
          part,
          route: before?.route ?? route,
          ofHost,
          places: [...(before?.places ?? []), place],
          matches: [...(before?.matches ?? []), route.match],
          endpointsOf,
          tlsOf,
        });
      }
    }
  }
  return units;
}

function createTlsReader({ shared }: Translation["scopes"]): TlsOf {
  const resources = new Map(shared.map((resource) => [resource.key, resource]));
  return (name) => {
    const resource = resources.get(backendTlsKey(name));
    const decoded = resource && decodeResource(resource);
    return decoded?.ok === true && decoded.value?.type === "backendtls" ? decoded.value.value : undefined;
  };
}
