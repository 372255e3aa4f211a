/** Where `auth-url` and `mirror-target` lead. See docs/ingress-nginx.md, "Authentication by URL". */
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { parseDnsName } from "@svc-gateway/common/values/hostname.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { protocolOf, tcpPortsOf, variantOf, type EndpointRef } from "../backends/service-port.ts";
import type { EndpointUse } from "../backends/service-port-ref.ts";
import { noGrant } from "../reference-grants.ts";
import { quote } from "../text.ts";
import { unverifiedTls } from "./backend-tls.ts";
import type { GroupContext } from "./groups/group.ts";

/** The parts of a URL with variables. */
export type UrlParts = {
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly target: string;
};

/** Takes a URL apart; the error says why ingress-nginx, or nginx, refuses it. */
export function splitUrl(url: string): Result<UrlParts> {
  const expected = 'a URL such as "https://$host/oauth2/auth"';
  const [, scheme = "", authority = "", target = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/.exec(url) ?? [];
  const lower = scheme.toLowerCase();
  if (lower !== "http" && lower !== "https") return problem(`${quote(url)} has another scheme`, expected);
  if (authority === "" || authority.startsWith(":")) return problem(`${quote(url)} has no host`, expected);
  if (authority.includes("@")) return problem("the URL has credentials", expected);
  if (authority.includes("..")) return problem(`${quote(url)} has .. in its host`, expected);
  if (target.includes("#")) return problem(`${quote(url)} has a fragment`, expected);
  return ok({ scheme: lower, authority, target });
}

/** What is asked beside the hosts of the gateway; undefined: they alone are. */
type Service = NonNullable<UrlCheck["service"]>;

/**
 * The Service that a host without variables names: `name.namespace`, `name.namespace.svc` or with the domain of the cluster
 * behind it. It is one of the Ingress's namespace, is shared by the operator, or permitted by a ReferenceGrant.
 */
export function findAuthService(
  { scheme, authority }: Pick<UrlParts, "scheme" | "authority">,
  context: GroupContext,
  use: EndpointUse = "checks",
): Result<Service | undefined> {
  const [, host = "", portText] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(authority) ?? [];
  if (host === "") return problem(`${quote(authority)} is not host[:port]`);
  const port = portText === undefined || portText === "" ? defaultPorts[scheme] : Number(portText);
  if (port < 1 || port > 65_535) return problem(`the port of ${quote(authority)} is out of range`);
  if (canonicalIp(host.replaceAll(/[[\]]/g, "")) !== undefined) {
    return problem(`the address ${host} is not asked: expected a host of this gateway or a Service`);
  }
  const named = /^([a-z0-9-]{1,63})\.([a-z0-9-]{1,63})(\.svc(?:\.cluster\.local)?)?\.?$/.exec(
    host.toLowerCase(),
  );
  const outside = (): Result<Service | undefined> =>
    context.nginx.settings.externalAuth ? findExternalHost(scheme, host, port, context) : ok(undefined);
  if (named === null) return outside();
  const [, name = "", namespace = "", suffix] = named;
  const key = `${namespace}/${name}`;
  if (!mayAsk(namespace, name, context)) {
    // A name of two labels may be that of a public host.
    if (suffix === undefined) return outside();
    const from = { kind: "Ingress", namespace: context.namespace } as const;
    return problem(noGrant(namespace, from, `Service ${key}`));
  }
  const service = context.lookup("Service", namespace, name);
  if (service === undefined && suffix === undefined) return outside();
  if (service === undefined) return problem(`Service ${key} does not exist`);
  if (service.spec?.type === "ExternalName") return problem(`Service ${key} is of type ExternalName`);
  const found = tcpPortsOf(service).find((one) => one.port === port);
  if (found === undefined) return problem(`Service ${key} has no TCP port ${port}`);
  const plain: EndpointRef = { name: `${key}/${port}`, key, service, port: found, uses: [use] };
  const used = scheme === "https" ? variantOf(plain, unverifiedTls(context)) : plain;
  context.useEndpoints(used);
  return ok({ endpoints: used.name, protocol: scheme === "https" ? "http1" : protocolOf(found) });
}

const defaultPorts = { http: 80, https: 443 } as const;

const mayAsk = (namespace: string, name: string, { namespace: own, nginx, permits }: GroupContext): boolean =>
  namespace === own ||
  nginx.settings.sharedServices.some((shared) => shared.namespace === namespace && shared.name === name) ||
  permits({ kind: "Ingress", namespace: own }, { kind: "Service", namespace, name });

/**
 * A host that the operator lets Ingresses name although this gateway does not serve it. The proxy resolves it and refuses
 * addresses of its node; hosts that it serves come first.
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
  // No namespace has such a name, so that no Service port can have the same.
  const endpoints = `external:${scheme}/${name.value}/${port}`;
  context.provide(
    encodeResource<"endpoints">(endpointsKey(endpoints), {
      service: name.value,
      resolve: "dns",
      // Absolute, so that no search domain of the pod makes a Service of it.
      addresses: [{ host: `${name.value}.`, port }],
      external: true,
      ...(tls !== undefined && { tls }),
    }),
  );
  return ok({ endpoints, protocol: "http1", unlessServed: true });
}
