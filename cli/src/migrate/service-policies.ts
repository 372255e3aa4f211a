/** What ingress-nginx says about a path and this gateway about a Service: connections, sessions, and how endpoints are chosen. */
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import { comparableBalancing, writeBalancing } from "./balancing.ts";
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
    const { loadBalancer, note } = writeBalancing(backend.balancing);
    if (note !== undefined) notes.push({ property: `backends[${index}].balancing`, ...note });
    const persistence = backend.unbound === true ? undefined : persistenceOf(route.affinity);
    const ofPorts = ports.of(backend.service);
    const isNeeded = loadBalancer !== undefined || persistence !== undefined || ofPorts !== undefined;
    if (ofIngress === undefined || !isNeeded) continue;
    define(policy("SvcBackendPolicy", {
      targetRefs: [{ name: ofIngress }],
      ...(ofPorts !== undefined && { ports: ofPorts }),
      ...(loadBalancer !== undefined && { loadBalancer }),
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
      const set = setOf(backend.endpoints);
      const { secureEndpoints } = backend;
      const tls = (secureEndpoints === undefined ? set : setOf(secureEndpoints))?.tls;
      return {
        ...backend,
        endpoints: withoutVariant(backend.endpoints),
        protocol: set?.protocol ?? backend.protocol,
        secureEndpoints: undefined,
        tls: tls === undefined ? undefined : tlsOf(tls),
        followsClient: secureEndpoints !== undefined || set?.tlsFollowsClient === true,
        balancing: comparableBalancing(backend, set),
      };
    }),
  };
}
