import { z } from "zod";
import { cidrTextSchema } from "./cidr-text.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** A rate, and how many requests an idle client may send at once. */
const requestRateSchema = z.object({
  requests: z.number().positive(),
  /** The time in which as many are admitted in the long run, in milliseconds. */
  periodMs: z.number().positive(),
  capacity: z.int().min(1),
});

const paceSchema = z.object({
  bytesPerSecond: z.int().min(1),
  /** The beginning of the body that is not paced, in bytes. */
  afterBytes: z.int().min(0),
});

const errorStatusSchema = z.int().min(400).max(599);

/** What each client may ask of a route. See docs/features/rate-limit.md. */
export const rateLimitSchema = z
  .object({
    /** Sustained requests per second and client; decimals are allowed. Absent: only the other limits apply. */
    requestsPerSecond: z.number().positive().optional(),
    /** Requests above that which a client may send at once. */
    burst: z.int().min(0).optional(),
    /** Lower-case name of the header whose value identifies clients; absent: their address does. */
    byHeader: z.string().optional(),
    /** Further rates. Only a request that all rates admit is counted. */
    rates: z.array(requestRateSchema).optional(),
    /** The most requests of a client that may be in progress at a time. */
    maxConcurrent: z.int().min(1).optional(),
    /** Clients that none of the above limits. */
    exempt: z.array(cidrTextSchema).optional(),
    /** Routes of a namespace with the same zone count together; absent: each route counts on its own. */
    zone: z.string().optional(),
    /** Answers requests above a rate, without Retry-After; absent: 429 with it. */
    status: errorStatusSchema.optional(),
    /** The same for requests above `maxConcurrent`. */
    concurrentStatus: errorStatusSchema.optional(),
    /** How fast the body of each response is sent. */
    pace: paceSchema.optional(),
  })
  .readonly();

export type RateLimit = z.infer<typeof rateLimitSchema>;
export type ResponsePace = Readonly<z.infer<typeof paceSchema>>;

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
