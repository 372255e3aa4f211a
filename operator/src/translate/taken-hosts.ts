/**
 * Hosts of Ingresses that receive no requests on a port, because a Gateway has the same host there
 * (docs/gateway-api.md, "Shared ports"). A listener without a host name has the host of all default backends.
 */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { formatRef, type ObjectRef } from "../api/object.ts";
import { hostOfGateway } from "./diagnostics/routes.ts";
import type { Diagnostic } from "./finding.ts";
import { haveSameItems } from "./incremental/memo.ts";
import type { ServedHost } from "./routing.ts";

type Hosts = readonly ServedHost[];
type GatewayHosts = readonly { readonly served: ServedHost }[];

/** Finds the taken hosts. The list is the same until a host changes. `ofIngresses` must be sorted by host name. */
export function createTakenHostFinder(): (
  ofIngresses: Hosts,
  ofGateways: GatewayHosts,
) => readonly Diagnostic[] {
  let last: { readonly inputs: readonly object[]; readonly output: readonly Diagnostic[] } | undefined;
  return (ofIngresses, ofGateways) => {
    const inputs = [ofIngresses, ofGateways];
    if (last === undefined || !haveSameItems(last.inputs, inputs)) {
      last = { inputs, output: findTaken(ofIngresses, ofGateways) };
    }
    return last.output;
  };
}

function findTaken(ofIngresses: Hosts, ofGateways: GatewayHosts): readonly Diagnostic[] {
  if (ofIngresses.length === 0) return [];
  /** The ports by the host of Ingresses, then by the listener that has the host. */
  const taken = new Map<ServedHost, Map<string, number[]>>();
  for (const { served } of ofGateways) {
    const { host, ports, value } = served;
    const own = findHost(ofIngresses, host.host);
    const shared = ports.filter((port) => own?.ports.includes(port));
    if (own === undefined || shared.length === 0) continue;
    const listeners = taken.get(own) ?? new Map<string, number[]>();
    taken.set(own, listeners);
    listeners.set(value.listener, [...(listeners.get(value.listener) ?? []), ...shared]);
  }
  return [...taken].flatMap(([{ host, value }, listeners]) =>
    [...routesByIngress(value.routes)].flatMap(([, [first]]) =>
      [...listeners].map(([listener, ports]) => {
        const field = first.fallback === true ? "spec.defaultBackend" : fieldOfRule(first);
        const { by, what } = describeListener(listener);
        const on = `${ports.length === 1 ? "port" : "ports"} ${ports.sort((a, b) => a - b).join(" and ")}`;
        return hostOfGateway({ object: first.source, field }, { host: host.host, on, by, what });
      }),
    ),
  );
}

/** Finds a host by binary search. */
function findHost(hosts: Hosts, name: string): ServedHost | undefined {
  let from = 0;
  let to = hosts.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((hosts[middle]?.host.host ?? "") < name) from = middle + 1;
    else to = middle;
  }
  return hosts[from]?.host.host === name ? hosts[from] : undefined;
}

/** The routes of each Ingress. The first is one of a rule or, if there is none, the default backend. */
function routesByIngress(routes: readonly Route[]): ReadonlyMap<string, readonly [Route, ...Route[]]> {
  const byIngress = new Map<string, [Route, ...Route[]]>();
  for (const route of routes) {
    if (route.source.kind !== "Ingress") continue;
    const known = byIngress.get(formatRef(route.source));
    if (known === undefined) byIngress.set(formatRef(route.source), [route]);
    else known.push(route);
  }
  return byIngress;
}

/** The field of the rule of the route `ingress/namespace/name:rule.path`. */
const fieldOfRule = ({ id }: Route): string => `spec.rules[${/:(\d+)\.\d+$/.exec(id)?.[1] ?? 0}]`;

/** The object and the name of a listener, from an id such as `Gateway/namespace/name/listener`. */
function describeListener(id: string): { readonly by: ObjectRef; readonly what: string } {
  const [kind = "", namespace = "", name = "", listener = ""] = id.split("/");
  return { by: { kind, namespace, name }, what: `listener ${listener}` };
}
