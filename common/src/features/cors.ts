import { z } from "zod";
import { defineFeature } from "./definition.ts";

/**
 * Which pages of other origins may read the responses of a route (Fetch, "HTTP-CORS protocol"; GEP-1767). `*` in a list
 * means everything; in the host of an origin it means one or more labels. Equivalent to Gateway API's
 * HTTPCORSFilter. See docs/features/cors.md.
 */
export const corsSchema = z.object({
  allowOrigins: z.array(z.string()).readonly(),
  allowCredentials: z.boolean(),
  allowMethods: z.array(z.string()).readonly(),
  allowHeaders: z.array(z.string()).readonly(),
  exposeHeaders: z.array(z.string()).readonly(),
  /** How long a browser may remember the answer to a preflight, in seconds. */
  maxAgeSeconds: z.int().min(0),
  /**
   * The same fields on every response to an allowed origin, which gets 204 for each OPTIONS request; those of other origins
   * are forwarded. Origins are compared as texts without case, `*` in a host is one label, `null` may be listed, and lists are
   * sent as written (docs/features/cors.md, "On every response"). Absent: as browsers need it.
   */
  onEveryResponse: z.literal(true).optional(),
  /** Answers before addresses, limits and credentials are checked; absent: after addresses and rate limits. */
  early: z.literal(true).optional(),
});

export type Cors = Readonly<z.infer<typeof corsSchema>>;

/** Set by filters of HTTPRoutes only. */
export const cors = defineFeature({
  slug: "cors",
  schema: corsSchema,
  annotations: {},
  fromAnnotations: () => undefined,
});
