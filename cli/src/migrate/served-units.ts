/** What the translation says about each path of each Ingress, on each host that it is served on. */
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { backendTlsKey, type RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { RouteMatch } from "@svc-gateway/common/ir/match.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";

/** A set of endpoints by its name. */
export type EndpointsOf = (name: string) => EndpointSet | undefined;

/** TLS settings by their name. */
export type TlsOf = (name: string) => BackendTls | undefined;

/** What of a translation is looked at. */
type Served = Pick<Translation, "routing" | "scopes">;

/** One path on one host. */
export type ServedUnit = {
  /** `namespace/name` of the Ingress. */
  readonly ingress: string;
  /** The host as in a rule; `*` for every host. */
  readonly host: string;
  /** Which part of the Ingress: `rule.path` by position, `default`, `app-root` or `www`. */
  readonly part: string;
  readonly route: Route;
  readonly ofHost: Omit<HostRoutes, "routes" | "listener" | "filters">;
  /** Its places in the order of the host; a path of a regular expression may have two. */
  readonly places: readonly number[];
  /** What its paths are compared with, as many as there are places. */
  readonly matches: readonly RouteMatch[];
  /** The sets of endpoints that its backends name, with the policies of their Services. */
  readonly endpointsOf: EndpointsOf;
  /** The TLS settings that sets of endpoints name. */
  readonly tlsOf: TlsOf;
};

/** The name of a unit among all of a translation. */
export const unitKey = (ingress: string, host: string, part: string): string => `${ingress} ${host} ${part}`;

/**
 * The units of all Ingresses by their keys, in the order in which their hosts try them. Ports that Ingresses listen on serve alike,
 * so one of them is looked at.
 */
export function servedUnits(translation: Served): ReadonlyMap<string, ServedUnit> {
  return collect(translation, "ingress", ({ id, source: { kind, namespace, name } }, host) => {
    const prefix = `ingress/${namespace}/${name}:`;
    if (kind !== "Ingress" || !id.startsWith(prefix)) return [];
    const part = id.slice(prefix.length);
    return [{ ingress: `${namespace}/${name}`, part, key: unitKey(`${namespace}/${name}`, host, part) }];
  });
}

/** The rules of routes, on each port and host that serves them: `port id host`. */
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
