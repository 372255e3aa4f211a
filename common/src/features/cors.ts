import { z } from "zod";
import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { shown } from "../values/clip.ts";
import { durationForm, parseDuration } from "../values/duration.ts";
import { isToken, parseHeaderName } from "../values/header-name.ts";
import { splitCsv } from "../values/list.ts";
import { parseOriginPattern } from "../values/origin.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { defineAnnotation, defineTranslatedFeature, type Warn } from "./definition.ts";

/**
 * The rules by which pages of other origins may read the responses of a route (Fetch, "HTTP-CORS protocol"; GEP-1767).
 * `*` in a list matches everything; in the host of an origin it matches one or more labels. Equivalent to Gateway API's
 * HTTPCORSFilter. See docs/features/cors.md.
 */
export const corsSchema = z.object({
  allowOrigins: z.array(z.string()).readonly(),
  allowCredentials: z.boolean(),
  allowMethods: z.array(z.string()).readonly(),
  allowHeaders: z.array(z.string()).readonly(),
  exposeHeaders: z.array(z.string()).readonly(),
  /** How long a browser may cache the answer to a preflight, in seconds. */
  maxAgeSeconds: z.int().min(0),
  /**
   * Whether every response to an allowed origin has the same fields, and each of its OPTIONS requests is answered 204;
   * those of other origins are forwarded. Origins are compared as texts without case, `*` in a host is one label,
   * `null` may be listed, and lists are sent as written (docs/features/cors.md, "On every response"). If absent, fields
   * are sent as browsers need them.
   */
  onEveryResponse: z.literal(true).optional(),
  /**
   * Whether requests are answered before addresses, limits and credentials are checked; if absent, after addresses and
   * rate limits.
   */
  early: z.literal(true).optional(),
});

export type Cors = Readonly<z.infer<typeof corsSchema>>;

/** How long browsers cache the answer to a preflight by default (GEP-1767), in seconds. */
export const defaultCorsMaxAgeSeconds = 5;

/** The maximum number of entries in a list, as in the filter of an HTTPRoute. */
const maxEntries = 64;

function parseList(
  text: string,
  expected: string,
  parseItem: (item: string) => Result<string>,
): Result<readonly string[]> {
  const items = splitCsv(text);
  if (items.length === 0) return problem("the list is empty", expected);
  if (items.length > maxEntries)
    return problem(`the list has ${items.length} entries`, `at most ${maxEntries}`);
  for (const item of items) {
    const read = parseItem(item);
    if (!read.ok) return read;
  }
  return ok(items);
}

const originsExpected = 'origins such as "https://a.example.com" or "https://*.example.com", or "*"';

/**
 * Reads a list of origins. Entries that are not origins are omitted with a warning; a list of only such entries is a
 * mistake.
 */
function parseOrigins(text: string, warn: Warn): Result<readonly string[]> {
  const items = parseList(text, originsExpected, ok);
  if (!items.ok) return items;
  const refused = items.value.filter((item) => item !== "*" && !parseOriginPattern(item).ok);
  const [first = ""] = refused;
  const what = `${JSON.stringify(shown(first))} is not an origin`;
  if (refused.length === items.value.length) return problem(what, originsExpected);
  if (refused.length > 0) {
    const which = refused.length === 1 ? what : `${what} (nor are ${refused.length - 1} more)`;
    warn(`${which}, expected ${originsExpected}; only the other origins are allowed`, "event");
  }
  return ok(items.value.filter((item) => !refused.includes(item)));
}

const methodsExpected = 'methods in capital letters such as "GET, PUT", or "*"';

/** Reads a method. Methods are case-sensitive (RFC 9110 section 9.1), so one in lower case would allow nothing. */
const parseMethod = (item: string): Result<string> =>
  isToken(item) && item.length <= 64 && item === item.toUpperCase()
    ? ok(item)
    : problem(`${JSON.stringify(shown(item))} is not a method`, methodsExpected);

const namesExpected = 'names of header fields such as "Content-Type, X-Api-Key", or "*"';

const parseNames = (text: string): Result<readonly string[]> =>
  parseList(text, namesExpected, parseHeaderName);

/** Reads a duration as whole seconds, rounded down. */
function parseMaxAge(text: string): Result<number> {
  const duration = parseDuration(text);
  return duration.ok ? ok(Math.floor(duration.value / 1000)) : duration;
}

/** The CORS feature of a route. The list of origins enables it; the other annotations set details. */
export const cors = defineTranslatedFeature({
  slug: "cors",
  schema: corsSchema,
  annotations: {
    allowOrigins: defineAnnotation({
      name: "cors-allow-origins",
      type: "csv",
      builtIn: "no CORS",
      gatewayApi: "`CORS` `allowOrigins`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the gateway answers no preflights and sets no CORS headers",
      doc: "Origins whose pages may read responses: `https://a.example.com`, `https://*.example.com`, or `*` for all. Turns CORS on.",
      parse: parseOrigins,
    }),
    allowMethods: defineAnnotation({
      name: "cors-allow-methods",
      type: "csv",
      builtIn: "those that need no permission",
      gatewayApi: "`CORS` `allowMethods`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "only methods that need no permission are allowed",
      doc: "Methods that pages may use besides GET, HEAD and POST, in capital letters; `*` for all.",
      parse: (text) => parseList(text, methodsExpected, parseMethod),
    }),
    allowHeaders: defineAnnotation({
      name: "cors-allow-headers",
      type: "csv",
      builtIn: "those that need no permission",
      gatewayApi: "`CORS` `allowHeaders`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "only request headers that need no permission are allowed",
      doc: "Names of request headers that pages may send; `*` for all.",
      parse: parseNames,
    }),
    allowCredentials: defineAnnotation({
      name: "cors-allow-credentials",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "`CORS` `allowCredentials`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "requests with credentials are not allowed",
      doc: "Whether pages may send cookies and other credentials, and read the responses.",
      parse: parseBoolean,
    }),
    exposeHeaders: defineAnnotation({
      name: "cors-expose-headers",
      type: "csv",
      builtIn: "those that need no permission",
      gatewayApi: "`CORS` `exposeHeaders`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "no response headers are exposed",
      doc: "Names of response headers that pages may read; `*` for all.",
      parse: parseNames,
    }),
    maxAge: defineAnnotation({
      name: "cors-max-age",
      type: "duration",
      form: durationForm,
      builtIn: `${defaultCorsMaxAgeSeconds}s`,
      gatewayApi: "`CORS` `maxAge`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: `browsers remember preflights for ${defaultCorsMaxAgeSeconds} seconds`,
      doc: "How long browsers remember the answer to a preflight, in whole seconds; `0` for not at all.",
      parse: parseMaxAge,
    }),
  },
});
