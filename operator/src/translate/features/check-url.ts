/** URLs by which requests are checked, and their targets. See docs/features/ext-auth.md, "By URL". */
import { parseRequestTemplate, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { tcpPortsOf, type EndpointRef } from "../backends/service-port.ts";
import { noGrant, type Referrer } from "../reference-grants.ts";
import type { View } from "../incremental/view.ts";
import { quote } from "../text.ts";

/** The parts of a URL with variables. */
export type UrlParts = {
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly target: string;
};

/** Splits a URL. The error is the reason why the URL cannot be used for a check. */
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

/** A Service port, or a host that is not a Service. */
export type UrlHost =
  | { readonly found: Pick<EndpointRef, "name" | "key" | "service" | "port"> }
  | { readonly found?: undefined; readonly host: string; readonly port: number };

type UrlHostContext = Pick<View, "lookup"> & {
  readonly from: Referrer;
  readonly mayAsk: (namespace: string, name: string) => boolean;
};

/**
 * Resolves a host without variables: to a Service, if it is `name.namespace` or `name.namespace.svc`,
 * optionally with the domain of the cluster, and if `mayAsk` permits it; otherwise to a host.
 */
export function resolveUrlHost(
  { scheme, authority }: Pick<UrlParts, "scheme" | "authority">,
  { lookup, from, mayAsk }: UrlHostContext,
): Result<UrlHost> {
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
  if (named === null) return ok({ host, port });
  const [, name = "", namespace = "", suffix] = named;
  const key = `${namespace}/${name}`;
  if (!mayAsk(namespace, name)) {
    // A name of two labels can be that of a public host.
    return suffix === undefined ? ok({ host, port }) : problem(noGrant(namespace, from, `Service ${key}`));
  }
  const service = lookup("Service", namespace, name);
  if (service === undefined && suffix === undefined) return ok({ host, port });
  if (service === undefined) return problem(`Service ${key} does not exist`);
  if (service.spec?.type === "ExternalName") return problem(`Service ${key} is of type ExternalName`);
  const found = tcpPortsOf(service).find((one) => one.port === port);
  if (found === undefined) return problem(`Service ${key} has no TCP port ${port}`);
  return ok({ found: { name: `${key}/${port}`, key, service, port: found } });
}

const defaultPorts = { http: 80, https: 443 } as const;

/** A field of a check, as a template that is expanded for each request. */
export type CheckField = { readonly name: string; readonly value: RequestTemplate };

/** Fields that describe the checked request, in the form that services such as oauth2-proxy read. */
const usualFields: readonly (readonly [name: string, text: string])[] = [
  ["X-Original-URL", "$scheme://$http_host$request_uri"],
  ["X-Original-Method", "$request_method"],
  ["X-Real-IP", "$remote_addr"],
  ["X-Forwarded-For", "$remote_addr"],
  ["X-Request-ID", "$req_id"],
  ["X-Auth-Request-Redirect", "$request_uri"],
];

/** The fields of every check by URL. A later field of a name replaces the first one in its position. */
export function createCheckFields(): {
  readonly set: (field: CheckField) => void;
  readonly fields: () => readonly CheckField[];
} {
  const fields = new Map<string, CheckField>();
  const set = (field: CheckField): void => void fields.set(field.name.toLowerCase(), field);
  for (const [name, text] of usualFields) {
    const value = parseRequestTemplate(text);
    if (value.ok) set({ name, value: value.value });
  }
  return { set, fields: () => [...fields.values()] };
}
