import { shown } from "../values/clip.ts";
import { z } from "zod";
import { enumForm, formProblem } from "../values/form.ts";
import { parseDnsName } from "../values/hostname.ts";
import { parsePort, portForm } from "../values/port.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";
import { requestTemplateSchema } from "./request-template.ts";
import { isPathText, pathModifierSchema, type PathModifier } from "./path-modifier.ts";

/**
 * The statuses of redirects (RFC 9110 15.4); 303 is for routes that are not configured by annotations of this gateway.
 */
export const redirectStatusSchema = z.literal([301, 302, 303, 307, 308]);

/** The target of a redirect; an absent part is taken from the request. See docs/features/redirect.md. */
export const redirectSchema = z.object({
  scheme: z.enum(["http", "https"]).optional(),
  hostname: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  path: pathModifierSchema.optional(),
  /** With `none`, the URL has no query; if absent, it has that of the request. */
  query: z.literal("none").optional(),
  /**
   * The part of the URL before the path. `received`: the scheme, and the Host field as the client sent it, with its
   * port. `none`: nothing, so that the client keeps scheme and host. If absent, scheme, host and port as above.
   */
  origin: z.enum(["received", "none"]).optional(),
  /**
   * The whole value of Location, constant or assembled for each request. All other parts except the status are then
   * ignored.
   */
  url: z.union([z.string(), requestTemplateSchema]).optional(),
  /** Omits a slash at the end of the URL. */
  cutSlash: z.literal(true).optional(),
  statusCode: z.int().min(300).max(308),
  /** Whether requests are answered before addresses, limits and credentials are checked; if absent, afterwards. */
  early: z.literal(true).optional(),
});

export type RedirectStatus = z.infer<typeof redirectStatusSchema>;
export type Redirect = Readonly<z.infer<typeof redirectSchema>>;

const statuses = new Map<string, RedirectStatus>([
  ["301", 301],
  ["302", 302],
  ["307", 307],
  ["308", 308],
]);

export const redirectStatusForm = enumForm("a status of a redirect", [...statuses.keys()]);

/** Reads the status of a redirect. */
export function parseRedirectStatus(text: string): Result<RedirectStatus> {
  const status = statuses.get(text.trim());
  return status === undefined ? formProblem(redirectStatusForm, text) : ok(status);
}

const schemeForm = enumForm("a scheme of HTTP", ["http", "https"]);

function parseScheme(text: string): Result<"http" | "https"> {
  const scheme = text.toLowerCase();
  return scheme === "http" || scheme === "https" ? ok(scheme) : formProblem(schemeForm, text);
}

/** Reads an absolute path without query and fragment, in its form on the wire (RFC 3986 section 3.3). */
export function parseRedirectPath(text: string): Result<PathModifier> {
  return text.startsWith("/") && isPathText(text)
    ? ok({ type: "full", value: text })
    : problem(
        `${JSON.stringify(shown(text))} is not an absolute path`,
        'a path such as "/new/place", without query, other characters percent-encoded',
      );
}

const urlExpected =
  'an absolute URL of http or https such as "https://www.example.com/new?a=b", other characters percent-encoded, without user and "$"';
const urlForm = /^https?:\/\/(?![/?#])(?:[A-Za-z0-9\-._~:/?#[\]!&'()*+,;=@]|%[0-9A-Fa-f]{2})+$/i;
const maxUrlLength = 2048;

/** Reads the whole value of Location. Variables are not replaced, so `$` is rejected. */
export function parseRedirectUrl(text: string): Result<string> {
  const isUrl = text.length <= maxUrlLength && urlForm.test(text) && URL.canParse(text);
  const parsed = isUrl ? new URL(text) : undefined;
  return parsed === undefined || parsed.hostname === "" || /^[^/]*\/\/[^/?#]*@/.test(text)
    ? problem(`${JSON.stringify(shown(text))} is not a URL to redirect to`, urlExpected)
    : ok(text);
}

export const redirect = defineFeature({
  slug: "redirect",
  schema: redirectSchema,
  annotations: {
    redirectUrl: defineAnnotation({
      name: "redirect-url",
      type: "string",
      builtIn: "none",
      gatewayApi: "none",
      classDefault: false,
      onInvalid: "ignore",
      fallback: "the other redirect-* annotations apply",
      doc: "Redirects to this whole URL, which takes precedence over the parts below; nothing of the request is added.",
      parse: parseRedirectUrl,
    }),
    redirectScheme: defineAnnotation({
      name: "redirect-scheme",
      type: "enum",
      form: schemeForm,
      builtIn: "the request's",
      gatewayApi: "`RequestRedirect` `scheme`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the scheme is that of the request",
      doc: "Redirects to this scheme, http or https.",
      parse: parseScheme,
    }),
    redirectHostname: defineAnnotation({
      name: "redirect-hostname",
      type: "string",
      builtIn: "the request's",
      gatewayApi: "`RequestRedirect` `hostname`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the host is that of the request",
      doc: "Redirects to this host, a DNS name.",
      parse: parseDnsName,
    }),
    redirectPort: defineAnnotation({
      name: "redirect-port",
      type: "integer",
      form: portForm,
      builtIn: "the scheme's, else the request's",
      gatewayApi: "`RequestRedirect` `port`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the port follows from the scheme and the request",
      doc: "Redirects to this port, 1 to 65535.",
      parse: parsePort,
    }),
    redirectPath: defineAnnotation({
      name: "redirect-path",
      type: "string",
      builtIn: "the request's",
      gatewayApi: "`RequestRedirect` `path`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the path is that of the request",
      doc: "Redirects to this absolute path; the query is kept.",
      parse: parseRedirectPath,
    }),
    redirectStatusCode: defineAnnotation({
      name: "redirect-status-code",
      type: "integer",
      form: redirectStatusForm,
      builtIn: "302",
      gatewayApi: "`RequestRedirect` `statusCode`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the status is 302",
      doc: "Status of the redirect: 301, 302, 307 or 308; 302 when absent.",
      parse: parseRedirectStatus,
    }),
  },
  // A status alone has no target, so there is no redirect.
  fromAnnotations: ({
    redirectUrl: url,
    redirectScheme: scheme,
    redirectHostname: hostname,
    redirectPort: port,
    redirectPath: path,
    redirectStatusCode: statusCode = 302,
  }) => {
    if (url !== undefined) return { url, statusCode };
    return scheme === undefined && hostname === undefined && port === undefined && path === undefined
      ? undefined
      : {
          ...(scheme !== undefined && { scheme }),
          ...(hostname !== undefined && { hostname }),
          ...(port !== undefined && { port }),
          ...(path !== undefined && { path }),
          statusCode,
        };
  },
});
