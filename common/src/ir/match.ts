import { z } from "zod";

/**
 * The comparison of a request path. `exact` and `prefix` compare the normalised path; a prefix matches whole path
 * segments only (`/a` matches `/a` and `/a/b`, not `/ab`). `regex` is RE2 syntax; with `whole`, the regular expression
 * must match the whole path (HTTPRoute) instead of any part of it (Ingress). See docs/routing.md.
 */
export const pathMatchSchema = z.object({
  type: z.enum(["exact", "prefix", "regex"]),
  value: z.string(),
  whole: z.boolean().optional(),
});

/** The comparison of a header or query parameter; `regex` is RE2 syntax, unanchored. Header names are lower case. */
export const valueMatchSchema = z.object({
  name: z.string(),
  type: z.enum(["exact", "regex"]),
  value: z.string(),
});

/**
 * The conditions of a route, all of which must be met (Gateway API HTTPRouteMatch). An absent part matches every
 * request.
 */
export const routeMatchSchema = z.object({
  path: pathMatchSchema,
  method: z.string().optional(),
  headers: z.array(valueMatchSchema).optional(),
  query: z.array(valueMatchSchema).optional(),
  /** Conditions on the first cookie of each name. Names are compared case-sensitively. */
  cookies: z.array(valueMatchSchema).optional(),
});

export type PathMatch = Readonly<z.infer<typeof pathMatchSchema>>;
export type ValueMatch = Readonly<z.infer<typeof valueMatchSchema>>;
export type RouteMatch = {
  readonly path: PathMatch;
  readonly method?: string | undefined;
  readonly headers?: readonly ValueMatch[] | undefined;
  readonly query?: readonly ValueMatch[] | undefined;
  readonly cookies?: readonly ValueMatch[] | undefined;
};
