/** Resolves the targets of `auth-url` and `mirror-target`. See docs/ingress-nginx.md, "Authentication by URL". */
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { parseDnsName } from "@svc-gateway/common/values/hostname.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { protocolOf, variantOf, type EndpointRef } from "../backends/service-port.ts";
import type { EndpointUse } from "../backends/service-port-ref.ts";
import { resolveUrlHost, type UrlParts } from "../features/check-url.ts";
import { quote } from "../text.ts";
import { unverifiedTls } from "./backend-tls.ts";
import type { GroupContext } from "./groups/group.ts";

/** The target of a check that is not a host of the gateway. */
type Service = NonNullable<UrlCheck["service"]>;

/**
 * Finds the Service that a host without variables names; undefined if it names none, so that only hosts of the
 * gateway can be meant. The Service must be in the Ingress's namespace, be shared by the operator, or be
 * permitted by a ReferenceGrant.
 */
export function findAuthService(
  { scheme, authority }: Pick<UrlParts, "scheme" | "authority">,
  context: GroupContext,
  use: EndpointUse = "checks",
): Result<Service | undefined> {
  const { lookup, namespace } = context;
  const named = resolveUrlHost(
    { scheme, authority },
    {
      lookup,
      from: { kind: "Ingress", namespace },
      mayAsk: (ofService, name) => mayAsk(ofService, name, context),
    },
  );
  if (!named.ok) return named;
  if (named.value.found === undefined) {
    const { host, port } = named.value;
    return context.nginx.settings.externalAuth
      ? findExternalHost(scheme, host, port, context)
      : ok(undefined);
  }
  const plain: EndpointRef = { ...named.value.found, uses: [use] };
  const used = scheme === "https" ? variantOf(plain, unverifiedTls(context)) : plain;
  context.useEndpoints(used);
  return ok({ endpoints: used.name, protocol: scheme === "https" ? "http1" : protocolOf(plain.port) });
}

const mayAsk = (namespace: string, name: string, { namespace: own, nginx, permits }: GroupContext): boolean =>
  namespace === own ||
  nginx.settings.sharedServices.some((shared) => shared.namespace === namespace && shared.name === name) ||
  permits({ kind: "Ingress", namespace: own }, { kind: "Service", namespace, name });

/**
 * Finds a host that the operator allows Ingresses to name although this gateway does not serve it. The proxy
 * resolves it and refuses addresses of its own node. Hosts that the proxy serves take precedence.
 */
function findExternalHost(
  scheme: UrlParts["scheme"],
  host: string,
  port: number,
  context: GroupContext,
): Result<Service> {
  const name = parseDnsName(host);
  if (!name.ok) return name;
  if (/\.(?:svc|cluster\.local)$/.test(name.value)) {
    return problem(`${quote(host)} is a name of the cluster, expected <service>.<namespace>.svc`);
  }
  const tls = scheme === "https" ? unverifiedTls(context, name.value).tls : undefined;
  // No namespace has such a name, so it never equals the name of a Service port.
  const endpoints = `external:${scheme}/${name.value}/${port}`;
  context.provide(
    encodeResource<"endpoints">(endpointsKey(endpoints), {
      service: name.value,
      resolve: "dns",
      // The name is absolute, so that no search domain of the pod turns it into that of a Service.
      addresses: [{ host: `${name.value}.`, port }],
      external: true,
      ...(tls !== undefined && { tls }),
    }),
  );
  return ok({ endpoints, protocol: "http1", unlessServed: true });
}
