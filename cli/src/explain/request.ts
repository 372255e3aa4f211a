/** The request to explain, in the form in which the data plane would receive it. */
import { isIP } from "node:net";
import { clip } from "@svc-gateway/common/settings/arguments.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { RouteQuery } from "@svc-gateway/proxy/exchange/route-query.ts";
import { parseRequestAddress } from "@svc-gateway/proxy/message/authority.ts";
import { Fields } from "@svc-gateway/proxy/message/fields.ts";
import { isCleanQuery, normalisePath } from "@svc-gateway/proxy/routing/normalise-path.ts";

export type ExplainedRequest = RouteQuery & {
  /** The path as the client sends it; `path` is its normalised form at the level `base`. */
  readonly rawPath: string;
  readonly scheme: "http" | "https";
  /** The port of the URL, or that of its scheme. */
  readonly port: number;
  /** The server name that a TLS client would send: the host of the URL, or empty for an address (RFC 6066 3). */
  readonly serverName: string;
};

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Reads method, URL and `Name: value` fields. The URL is split without normalisation, which is left to the gateway.
 * Also fails for a request that the gateway would answer 400 or 405; the problem contains that answer.
 */
export function readRequest(
  method: string,
  url: string,
  fields: readonly string[],
): Result<ExplainedRequest, Problem> {
  if (!token.test(method)) return problem(`"${clip(method)}" is not a method`);
  const [, scheme, authority = "", rest = ""] = /^(https?):\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  if (scheme === undefined) return problem(`"${clip(url)}" is not a URL: expected http://... or https://...`);
  const headers: string[] = [];
  for (const field of fields) {
    const [, name, value] = /^([^:]+):[ \t]*(.*?)[ \t]*$/s.exec(field) ?? [];
    if (name === undefined || value === undefined || !token.test(name) || /[\r\n\0]/.test(value)) {
      return problem(`-H "${clip(field)}": expected "Name: value"`);
    }
    headers.push(name, value);
  }
  if (!headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === "host")) {
    headers.unshift("Host", authority);
  }
  const target = rest.startsWith("/") ? rest : `/${rest}`;
  const head = { version: "1.1", method, target, authority: undefined, scheme: undefined } as const;
  if (method === "TRACE" || method === "CONNECT") return problem(`the gateway answers ${method} with 405`);
  const address = parseRequestAddress({ ...head, headers: Fields.of(headers) });
  if (!address.ok) return problem(`the gateway answers 400: ${address.error.message}`);
  const mark = target.indexOf("?");
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark);
  const path = normalisePath(rawPath, "base");
  if (path === undefined || !isCleanQuery(query))
    return problem(`the gateway answers 400: the target "${clip(target)}" is malformed`);
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority) ?? [];
  const isSecure = scheme.toLowerCase() === "https";
  return ok({
    scheme: isSecure ? "https" : "http",
    port: Number(port || (isSecure ? 443 : 80)),
    serverName: isIP(host.replace(/^\[|\]$/g, "")) === 0 ? host.toLowerCase().replace(/\.$/, "") : "",
    host: address.value.host,
    rawPath,
    path,
    query,
    method,
    headers: Fields.of(headers),
    authority: address.value.authority,
  });
}
