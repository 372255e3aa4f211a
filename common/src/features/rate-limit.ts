import { z } from "zod";
import { cidrTextSchema } from "./cidr-text.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** A rate, and the number of requests that an idle client may send in a burst. */
const requestRateSchema = z.object({
  requests: z.number().positive(),
  /** The period in which `requests` are admitted in the long run, in milliseconds. */
  periodMs: z.number().positive(),
  capacity: z.int().min(1),
});

const paceSchema = z.object({
  bytesPerSecond: z.int().min(1),
  /** The length of the beginning of the body that is not paced, in bytes. */
  afterBytes: z.int().min(0),
});

const errorStatusSchema = z.int().min(400).max(599);

/** The limits on the requests of each client to a route. See docs/features/rate-limit.md. */
export const rateLimitSchema = z
  .object({
    /** Sustained requests per second and client; decimals are allowed. If absent, only the other limits apply. */
    requestsPerSecond: z.number().positive().optional(),
    /** The number of requests above that rate which a client may send in a burst. */
    burst: z.int().min(0).optional(),
    /** Lower-case name of the header that identifies clients; if absent, clients are identified by their address. */
    byHeader: z.string().optional(),
    /** Additional rates. A request is counted only if all rates admit it. */
    rates: z.array(requestRateSchema).optional(),
    /** The maximum number of requests of a client that may be in progress simultaneously. */
    maxConcurrent: z.int().min(1).optional(),
    /** Clients that are exempt from all of these limits. */
    exempt: z.array(cidrTextSchema).optional(),
    /**
     * The zone; routes of a namespace in the same zone share their counts. If absent, each route counts independently.
     */
    zone: z.string().optional(),
    /**
     * The status for requests above a rate, which are answered without Retry-After; if absent, 429 with Retry-After.
     */
    status: errorStatusSchema.optional(),
    /** The same status for requests above `maxConcurrent`. */
    concurrentStatus: errorStatusSchema.optional(),
    /** The rate at which the body of each response is sent. */
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
