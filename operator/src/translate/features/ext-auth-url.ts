/** A SvcExternalAuth with a URL: `spec.http.url`. See docs/features/ext-auth.md, "By URL". */
import type { ExtAuth, UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import {
  literalOf,
  parseRequestTemplate,
  type RequestTemplate,
} from "@svc-gateway/common/features/request-template.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { protocolOf, type EndpointRef } from "../backends/service-port.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import type { View } from "../incremental/view.ts";
import { createCheckFields, resolveUrlHost, splitUrl, type UrlParts } from "./check-url.ts";
import { readAnswers, readCheckFields, type Parse } from "./ext-auth-http.ts";
import { usableNames } from "./usable-names.ts";

type Policy = ObjectOf<"SvcExternalAuth">;

type ReadUrlCheck = { readonly asked: Result<ExtAuth[number]>; readonly endpointRef?: EndpointRef };

/** Returns the check of each request by a URL, or the reason why the URL cannot be used. */
export function readUrlCheck(
  policy: Policy,
  timeoutMs: number,
  view: Pick<View, "lookup" | "permits">,
  ignored: string[],
): ReadUrlCheck {
  const { spec, metadata } = policy;
  const { url = "", method = "GET", headers = [] } = spec.http ?? {};
  const refuse = (why: string): ReadUrlCheck => ({ asked: problem(why) });
  const surplus = surplusOf(policy);
  if (surplus !== undefined) return refuse(`spec.http.url cannot be used with ${surplus}`);
  const statics = { namespace: metadata.namespace };
  const parse: Parse = (text) => parseRequestTemplate(text, { statics });
  const where = readUrl(url, parse, policy, view);
  if (!where.ok) return refuse(`spec.http.url: ${describeProblem(where.error)}`);
  const own = readCheckFields(headers, parse);
  if (!own.ok) return { asked: own };
  const { set, fields } = createCheckFields();
  for (const field of own.value) set(field);
  const { endpointRef, ...rest } = where.value;
  const check: UrlCheck = {
    ...rest,
    ...(endpointRef !== undefined && {
      service: { endpoints: endpointRef.name, protocol: protocolOf(endpointRef.port) },
    }),
    method,
    timeoutMs,
    set: fields(),
    responseHeaders: usableNames(spec.allowedResponseHeaders ?? [], "spec.allowedResponseHeaders", ignored),
    ...readAnswers(spec.http ?? {}, false, parse, ignored),
  };
  return { asked: ok({ url: check }), ...(endpointRef !== undefined && { endpointRef }) };
}

/**
 * A field that has no meaning together with a URL; undefined if there is none. The schema rejects these fields
 * as well.
 */
function surplusOf({ spec }: Policy): string | undefined {
  const { http } = spec;
  const names: readonly (readonly [string, boolean])[] = [
    ["backendRef", spec.backendRef !== undefined],
    ["protocol GRPC", spec.protocol !== "HTTP"],
    ["http.path", http?.path !== undefined],
    ["http.host", http?.host !== undefined],
    ["http.deniedStatuses", http?.deniedStatuses !== undefined],
    ["allowedHeaders", spec.allowedHeaders !== undefined],
    ["forwardBody", (spec.forwardBody?.maxSize ?? 0) > 0],
    ["failClosed: false", spec.failClosed === false],
  ];
  return names.find(([, isSet]) => isSet)?.[0];
}

type Where = Pick<UrlParts, "scheme"> & {
  readonly authority: RequestTemplate;
  readonly target: RequestTemplate;
  readonly endpointRef?: EndpointRef;
};

/** Resolves the URL: to a Service, otherwise to a host that the gateway serves. */
function readUrl(
  url: string,
  parse: Parse,
  { metadata: { namespace: own } }: Policy,
  { lookup, permits }: Pick<View, "lookup" | "permits">,
): Result<Where> {
  const parts = splitUrl(url);
  if (!parts.ok) return parts;
  const { scheme } = parts.value;
  const authority = parse(parts.value.authority);
  if (!authority.ok) return authority;
  const target = parse(parts.value.target);
  if (!target.ok) return target;
  const where: Where = { scheme, authority: authority.value, target: target.value };
  const host = literalOf(authority.value);
  if (host === undefined) return ok(where);
  const from = { kind: "SvcExternalAuth", namespace: own } as const;
  const mayAsk = (namespace: string, name: string): boolean =>
    permits(from, { kind: "Service", namespace, name });
  const named = resolveUrlHost({ scheme, authority: host }, { lookup, from, mayAsk });
  if (!named.ok) return named;
  const { found } = named.value;
  if (found === undefined) return ok(where);
  if (scheme === "https") {
    const expected = "http, where a BackendTLSPolicy of the Service makes its connections use TLS";
    return problem(`Service ${found.key} would be asked without its certificate being verified`, expected);
  }
  return ok({ ...where, endpointRef: { ...found, uses: ["checks"] } });
}
