/** Snapshots of many routes, in the form that a proxy receives. */
import { endpointsKey, listenerKey, routeKey } from "../../common/src/ir/keys.ts";
import { encodeResource, type Resource } from "../../common/src/ir/resource.ts";

export const hostOf = (index: number): string => `app-${index}.example.com`;

const tenantOf = (index: number) => ({ namespace: `team-${index % 50}`, name: `app-${index}` });

/** The route of one host with one prefix, as if from a separate Ingress. */
export function hostRoute(
  index: number,
  path: string,
  to: { readonly service: string; readonly endpoints: string },
): Resource {
  const { namespace, name } = tenantOf(index);
  return encodeResource<"route">(routeKey("ingress", 80, { kind: "exact", host: hostOf(index) }), {
    listener: "ingress",
    inherit: false,
    routes: [
      {
        id: `ingress/${namespace}/${name}:0.0`,
        source: { kind: "Ingress", namespace, name },
        match: { path: { type: "prefix", value: path } },
        backends: [{ weight: 1, ...to, protocol: "http1" }],
      },
    ],
  });
}

/** One route for each host, each with a Service of its own, as in a cluster with many tenants. */
export function resources(
  routes: number,
  backendPort: number,
  path: (index: number) => string,
): readonly Resource[] {
  const ofHosts = Array.from({ length: routes }, (_, index) => {
    const { namespace, name } = tenantOf(index);
    const service = `${namespace}/${name}`;
    return hostRoute(index, path(index), { service, endpoints: `${service}/80` });
  });
  const ofServices = Array.from({ length: routes }, (_, index) => {
    const { namespace, name } = tenantOf(index);
    const service = `${namespace}/${name}`;
    return encodeResource<"endpoints">(endpointsKey(`${service}/80`), {
      service,
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: backendPort }],
    });
  });
  const listener = encodeResource<"listener">(listenerKey("ingress"), {
    listeners: [{ port: 80, publicPort: 80, protocol: "http" }],
  });
  return [...ofHosts, ...ofServices, listener];
}
