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
});

export type Cors = Readonly<z.infer<typeof corsSchema>>;

/** Set by filters of HTTPRoutes only. */
export const cors = defineFeature({
  slug: "cors",
  schema: corsSchema,
  annotations: {},
  fromAnnotations: () => undefined,
});
