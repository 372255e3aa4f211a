/** Applies the policies of Services to a route: connections, sessions, and load balancing. */
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import { comparableBalancing } from "./balancing.ts";
import type { ServedUnit } from "./served-units.ts";

/** Completes a route by the policies of its Services, in a common form for settings of either. */
export function withServicePolicies(
  route: Route,
  { endpointsOf, tlsOf }: Pick<ServedUnit, "endpointsOf" | "tlsOf">,
): object {
  const setOf = (endpoints: string | undefined): EndpointSet | undefined =>
    endpoints === undefined ? undefined : endpointsOf(endpoints);
  const policyOf = ({ endpoints }: Backend): EndpointSet["policy"] => setOf(endpoints)?.policy;
  /** Removes the variant from a name: different connection settings have separate sets of the same endpoints. */
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
