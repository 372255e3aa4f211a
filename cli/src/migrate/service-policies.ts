/** What ingress-nginx says about a path and this gateway about a Service: connections, sessions, and how endpoints are chosen. */
import type { LoadBalancer } from "@svc-gateway/common/features/backend-policy.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { ServedUnit } from "./served-units.ts";
import type { ServicePorts } from "./service-ports.ts";
import { policy, type Note, type WriterContext } from "./written.ts";

/** The SvcBackendPolicies of the Services of a path; notes on what they cannot say. */
export function writeServicePolicies(
  unit: ServedUnit,
  ports: ServicePorts,
  define: WriterContext["define"],
): readonly Note[] {
  const { route } = unit;
  const notes: Note[] = [...ports.notesOf(unit)];
  for (const [index, backend] of route.backends.entries()) {
    const [, namespace, name] = /^([^/]+)\/(.+)$/.exec(backend.service) ?? [];
    const [ofIngress] = route.source.namespace === namespace ? [name] : [];
    const { algorithm, problem } = algorithmOf(backend.balancing);
    if (problem !== undefined)
      notes.push({ property: `backends[${index}].balancing`, loss: "lost", text: problem });
    const persistence = backend.unbound === true ? undefined : persistenceOf(route.affinity);
    const ofPorts = ports.of(backend.service);
    const isNeeded = algorithm !== undefined || persistence !== undefined || ofPorts !== undefined;
    if (ofIngress === undefined || !isNeeded) continue;
    define(policy("SvcBackendPolicy", {
      targetRefs: [{ name: ofIngress }],
      ...(ofPorts !== undefined && { ports: ofPorts }),
      ...(algorithm !== undefined && { loadBalancer: { algorithm } }),
      ...(persistence !== undefined && { sessionPersistence: persistence }),
    }));
  }
  return notes;
}

function persistenceOf(affinity: SessionAffinity | undefined): object | undefined {
  if (affinity === undefined) return undefined;
  const { cookie, omitsNoneIfMisread, changesOnFailure, ...attributes } = affinity;
  return {
    type: "Cookie",
    sessionName: cookie,
    cookie: {
      ...attributes,
      ...(omitsNoneIfMisread === true && { omitNoneIfMisread: true }),
      ...(changesOnFailure === true && { changeOnFailure: true }),
    },
  };
}

/** The algorithm as a policy names it. */
function algorithmOf(balancing: Balancing | undefined): {
  readonly algorithm?: string;
  readonly problem?: string;
} {
  if (balancing === undefined) return {};
  if (balancing.algorithm !== "hash") return { algorithm: balancing.algorithm };
  const found = loadBalancerOf(balancing);
  const subset =
    balancing.subset === undefined
      ? {}
      : { problem: "A key leads to one endpoint instead of a subset of them" };
  if (found?.algorithm !== "hash")
    return { problem: "A hash of several values cannot be written; endpoints are chosen in turn" };
  const { key } = found;
  return { algorithm: "name" in key ? `hash:${key.from}=${key.name}` : `hash:${key.from}`, ...subset };
}

/** The same as a policy of a Service; undefined where none says it. */
function loadBalancerOf(balancing: Balancing): LoadBalancer | undefined {
  if (balancing.algorithm !== "hash") return balancing;
  const [part, ...others] = balancing.key;
  if (part === undefined || typeof part === "string" || others.length > 0) return undefined;
  switch (part.variable) {
    case "request_uri":
      return { algorithm: "hash", key: { from: "uri" } };
    case "remote_addr":
    case "binary_remote_addr":
      return { algorithm: "hash", key: { from: "source-ip" } };
    case "http":
      return { algorithm: "hash", key: { from: "header", name: part.name } };
    case "cookie":
      return { algorithm: "hash", key: { from: "cookie", name: part.name } };
    default:
      return undefined;
  }
}

/** A route with what the policies of its Services say where it says nothing itself, in one form for both. */
export function withServicePolicies(
  route: Route,
  { endpointsOf, tlsOf }: Pick<ServedUnit, "endpointsOf" | "tlsOf">,
): object {
  const setOf = (endpoints: string | undefined): EndpointSet | undefined =>
    endpoints === undefined ? undefined : endpointsOf(endpoints);
  const policyOf = ({ endpoints }: Backend): EndpointSet["policy"] => setOf(endpoints)?.policy;
  /** Settings of connections make other sets of the same endpoints. */
  const withoutVariant = (endpoints: string | undefined): string | undefined =>
    endpoints?.split("/").slice(0, 3).join("/");
  const [first] = route.backends;
  const sessions = first && policyOf(first)?.sessionPersistence;
  const ofPolicy =
    sessions?.type === "cookie" ? { cookie: sessions.name, path: "/", ...sessions.cookie } : undefined;
  return {
    ...route,
    affinity: route.affinity ?? ofPolicy,
    backends: route.backends.map((backend) => {
      const own = backend.balancing && (loadBalancerOf(backend.balancing) ?? backend.balancing);
      const subset = backend.balancing?.algorithm === "hash" ? backend.balancing.subset : undefined;
      const balancing = own ?? policyOf(backend)?.loadBalancer;
      const set = setOf(backend.endpoints);
      return {
        ...backend,
        endpoints: withoutVariant(backend.endpoints),
        protocol: set?.protocol ?? backend.protocol,
        tls: set?.tls === undefined ? undefined : tlsOf(set.tls),
        balancing: subset === undefined ? balancing : { ...balancing, subset },
      };
    }),
  };
}
