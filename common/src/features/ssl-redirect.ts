import { z } from "zod";
import { booleanForm, parseBoolean } from "../values/boolean.ts";
import { defineAnnotation, defineTranslatedFeature } from "./definition.ts";
import { parseRedirectStatus, redirectStatusForm, redirectStatusSchema } from "./redirect.ts";

/** Redirects a request without TLS to the same URL with TLS, at this port. See docs/features/ssl-redirect.md. */
export const sslRedirectSchema = z.object({
  port: z.int().min(1).max(65_535),
  statusCode: redirectStatusSchema,
  /** Whether a slash at the end of the URL, also after a query, is omitted. */
  cutSlash: z.literal(true).optional(),
  /** Whether the redirect precedes address rules and rate limits. See docs/filter-order.md. */
  early: z.literal(true).optional(),
});

export type SslRedirect = Readonly<z.infer<typeof sslRedirectSchema>>;

export const sslRedirect = defineTranslatedFeature({
  slug: "ssl-redirect",
  schema: sslRedirectSchema,
  annotations: {
    sslRedirect: defineAnnotation({
      name: "ssl-redirect",
      type: "boolean",
      form: booleanForm,
      builtIn: "false",
      gatewayApi: "`RequestRedirect` `scheme: https` of a route on the HTTP listener",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "nothing is redirected to https",
      doc: "Whether requests on the HTTP listener are redirected to https. A redirect-* annotation takes precedence.",
      parse: parseBoolean,
    }),
    sslRedirectCode: defineAnnotation({
      name: "ssl-redirect-code",
      type: "integer",
      form: redirectStatusForm,
      builtIn: "308",
      gatewayApi: "`RequestRedirect` `statusCode`",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the status is 308",
      doc: "Status of that redirect: 301, 302, 307 or 308; 308 when absent.",
      parse: parseRedirectStatus,
    }),
  },
});
