/**
 * Converts annotations of a path to filters of a rule: filters of the Gateway API if they are equivalent, references to
 * policies of this project, and RouteOptions for all others.
 */
import type { Cors } from "@svc-gateway/common/features/cors.ts";
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import { hasGroupReference } from "@svc-gateway/common/features/rewrite-target.ts";
import { splitCsv, splitLines } from "@svc-gateway/common/values/list.ts";
import type { HTTPRouteRuleFilter as Filter } from "@svc-gateway/operator/api/generated/httproute.ts";
import type { KindName } from "@svc-gateway/operator/api/kinds.ts";
import { policy, type WriterContext } from "../written.ts";

type Annotations = Readonly<Record<string, string>>;

/** The kinds of policies to which both annotations and filters refer, by annotation. */
const kinds: Readonly<Record<string, KindName>> = {
  retry: "RetryPolicy",
  "rate-limit": "RateLimit",
  "ip-access-control": "IpAccessControl",
  "ext-auth": "SvcExternalAuth",
  compression: "Compression",
};

/** The annotations that belong to a listener, or that the match of the rule expresses. */
const ofListener = new Set(["ssl-redirect", "ssl-redirect-code", "use-regex"]);

type Context = Pick<WriterContext, "define">;

/** Writes the filters of a rule. `cors` is the feature, which one filter expresses as a whole. */
export function writeFilters(
  annotations: Annotations,
  cors: Cors | undefined,
  context: Context,
): readonly Filter[] {
  const rest = new Map(Object.entries(annotations).filter(([name]) => !ofListener.has(name)));
  const take = (name: string): string | undefined => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const filters: Filter[] = [
    ...modifierOf("request", take),
    ...modifierOf("response", take),
    ...redirectOf(rest, take),
    ...rewriteOf(rest, take),
    ...mirrorOf(take),
    ...corsOf(cors, rest),
  ];
  for (const [name, kind] of Object.entries(kinds)) {
    const [, referred] = take(name)?.split("/") ?? [];
    if (referred !== undefined) filters.push(extension(kind, referred));
  }
  if (rest.size === 0) return filters;
  const options = Object.fromEntries(
    [...rest]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [`${annotationPrefix}${name}`, value]),
  );
  return [
    ...filters,
    extension("RouteOptions", context.define(policy("RouteOptions", { annotations: options }))),
  ];
}

const extension = (kind: KindName, name: string): Filter => ({
  type: "ExtensionRef",
  extensionRef: { group: "gateway.svc-labs.dev", kind, name },
});

type Take = (name: string) => string | undefined;

function modifierOf(direction: "request" | "response", take: Take): readonly Filter[] {
  const fields = (name: string): readonly { readonly name: string; readonly value: string }[] =>
    splitLines(take(`${direction}-header-${name}`) ?? "").map((line) => {
      const colon = line.indexOf(":");
      return { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
    });
  const [set, add, remove] = [
    fields("set"),
    fields("add"),
    splitCsv(take(`${direction}-header-remove`) ?? ""),
  ];
  if (set.length + add.length + remove.length === 0) return [];
  const modifier = {
    ...(set.length > 0 && { set }),
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
  return direction === "request"
    ? [{ type: "RequestHeaderModifier", requestHeaderModifier: modifier }]
    : [{ type: "ResponseHeaderModifier", responseHeaderModifier: modifier }];
}

type Status = NonNullable<NonNullable<Filter["requestRedirect"]>["statusCode"]>;

/** Writes a redirect; one to a whole URL is left to RouteOptions. */
function redirectOf(rest: ReadonlyMap<string, string>, take: Take): readonly Filter[] {
  const names = ["redirect-scheme", "redirect-hostname", "redirect-port", "redirect-path"];
  if (rest.has("redirect-url") || !names.some((name) => rest.has(name))) return [];
  const [scheme, hostname, port, path] = names.map(take);
  const statusCode = Number(take("redirect-status-code") ?? 302) as Status;
  const requestRedirect: Filter["requestRedirect"] = {
    ...(scheme !== undefined && { scheme: scheme as "http" | "https" }),
    ...(hostname !== undefined && { hostname }),
    ...(port !== undefined && { port: Number(port) }),
    ...(path !== undefined && { path: { type: "ReplaceFullPath" as const, replaceFullPath: path } }),
    statusCode,
  };
  return [{ type: "RequestRedirect", requestRedirect }];
}

/** Writes a new path; one with groups of the old path is left to RouteOptions. */
function rewriteOf(rest: ReadonlyMap<string, string>, take: Take): readonly Filter[] {
  const path = rest.get("rewrite-target");
  if (path === undefined || hasGroupReference(path)) return [];
  take("rewrite-target");
  const replaceFullPath = path.startsWith("/") ? path : `/${path}`;
  return [{ type: "URLRewrite", urlRewrite: { path: { type: "ReplaceFullPath", replaceFullPath } } }];
}

function mirrorOf(take: Take): readonly Filter[] {
  const [, name = "", namespace, port] =
    /^([^.:]+)\.([^.:]+)[^:]*:(\d+)$/.exec(take("mirror-target") ?? "") ?? [];
  if (namespace === undefined) return [];
  return [{ type: "RequestMirror", requestMirror: { backendRef: { name, port: Number(port) } } }];
}

const methods = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "CONNECT",
  "OPTIONS",
  "TRACE",
  "PATCH",
  "*",
] as const;
type Method = (typeof methods)[number];
const isMethod = (text: string): text is Method => (methods as readonly string[]).includes(text);

/** Writes CORS; settings that the filter cannot express are left to RouteOptions. */
function corsOf(cors: Cors | undefined, rest: Map<string, string>): readonly Filter[] {
  if (cors === undefined || !rest.has("cors-allow-origins")) return [];
  const { allowOrigins, allowCredentials, maxAgeSeconds } = cors;
  // A list of an Ingress is one text with commas, which is sent as written.
  const [allowMethods = [], allowHeaders = [], exposeHeaders = []] = [
    cors.allowMethods.map((text) => text.toUpperCase()),
    cors.allowHeaders,
    cors.exposeHeaders,
  ].map((list) => [...new Set(list.flatMap(splitCsv))]);
  const known = allowMethods.filter(isMethod);
  if (known.length < allowMethods.length || maxAgeSeconds < 1) return [];
  for (const name of rest.keys()) if (name.startsWith("cors-")) rest.delete(name);
  return [
    {
      type: "CORS",
      cors: {
        allowOrigins,
        ...(known.length > 0 && { allowMethods: known }),
        ...(allowHeaders.length > 0 && { allowHeaders }),
        ...(exposeHeaders.length > 0 && { exposeHeaders }),
        ...(allowCredentials && { allowCredentials }),
        maxAge: maxAgeSeconds,
      },
    },
  ];
}
