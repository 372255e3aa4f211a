import { z } from "zod";

/**
 * How a request path is compared. `exact` and `prefix` compare the normalised path; a prefix matches whole path
 * segments only (`/a` matches `/a` and `/a/b`, not `/ab`). `regex` is RE2 syntax; `whole` says that the regular
 * expression must match the whole path (HTTPRoute) instead of any part of it (Ingress). See docs/routing.md.
 */
export const pathMatchSchema = z.object({
  type: z.enum(["exact", "prefix", "regex"]),
  value: z.string(),
  whole: z.boolean().optional(),
});

/** Header or query parameter comparison; `regex` is RE2 syntax, unanchored. Header names are lower case. */
export const valueMatchSchema = z.object({
  name: z.string(),
  type: z.enum(["exact", "regex"]),
  value: z.string(),
});

/** All parts must hold (Gateway API HTTPRouteMatch). An absent part matches every request. */
export const routeMatchSchema = z.object({
  path: pathMatchSchema,
  method: z.string().optional(),
  headers: z.array(valueMatchSchema).optional(),
  query: z.array(valueMatchSchema).optional(),
  /** The first cookie of each name. Names are compared with their case. */
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
