/** What the translation says about each path of each Ingress, on each host that it is served on. */
import type { HostRoutes, Route } from "@svc-gateway/common/ir/route.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";

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
};

/** The name of a unit among all of a translation. */
export const unitKey = (ingress: string, host: string, part: string): string => `${ingress} ${host} ${part}`;

/**
 * The units of all Ingresses by their keys, in the order in which their hosts try them. Ports that Ingresses listen on serve alike,
 * so one of them is looked at.
 */
export function servedUnits({ routing }: Pick<Translation, "routing">): ReadonlyMap<string, ServedUnit> {
  const units = new Map<string, ServedUnit>();
  for (const { group, host, value } of routing.hosts) {
    if (group !== "ingress") continue;
    const { routes, listener: _, filters: __, ...ofHost } = value;
    for (const [place, route] of routes.entries()) {
      const { kind, namespace, name } = route.source;
      const prefix = `ingress/${namespace}/${name}:`;
      if (kind !== "Ingress" || !route.id.startsWith(prefix)) continue;
      const part = route.id.slice(prefix.length);
      const key = unitKey(`${namespace}/${name}`, host.host, part);
      const before = units.get(key);
      const places = [...(before?.places ?? []), place];
      units.set(key, {
        ingress: `${namespace}/${name}`,
        host: host.host,
        part,
        route: before?.route ?? route,
        ofHost,
        places,
      });
    }
  }
  return units;
}
