import { z } from "zod";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** The request rate of each client on a route. See docs/features/rate-limit.md. */
export const rateLimitSchema = z.object({
  /** Sustained requests per second and client; decimals are allowed. */
  requestsPerSecond: z.number().positive(),
  /** Requests above that which a client may send at once. */
  burst: z.int().min(0),
  /** Lower-case name of the header whose value identifies clients; absent: their address does. */
  byHeader: z.string().optional(),
});

export type RateLimit = Readonly<z.infer<typeof rateLimitSchema>>;

export const rateLimit = defineTranslatedFeature({
  slug: "rate-limit",
  schema: rateLimitSchema,
  annotations: {
    rateLimit: defineReference({
      name: "rate-limit",
      resource: "RateLimit",
      restricts: true,
      builtIn: "no limit",
      gatewayApi: "`ExtensionRef` to RateLimit",
      alsoInEvents: "a resource that does not exist; `byHeader` where no annotation authenticates clients",
      fallback: "the rate of requests is not limited",
      doc: "The RateLimit that limits the request rate of each client.",
    }),
  },
});
