import { z } from "zod";
import { maxDurationMs } from "../values/duration.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** When a request that failed upstream is sent again. See docs/features/retry.md. */
export const retrySchema = z.object({
  /** Attempts after the first one. */
  attempts: z.int().positive(),
  /** Statuses of responses that are discarded for another attempt. */
  codes: z.array(z.int().min(100).max(599)),
  /** Shortest wait before each retry in milliseconds; absent: none. */
  backoffMs: z.number().positive().max(maxDurationMs).optional(),
  /** gRPC statuses, of responses without messages, that are discarded for another attempt. */
  grpcCodes: z.array(z.int().min(1).max(16)).optional(),
});

export type Retry = Readonly<z.infer<typeof retrySchema>>;

export const retry = defineTranslatedFeature({
  slug: "retry",
  schema: retrySchema,
  annotations: {
    retry: defineReference({
      name: "retry",
      resource: "RetryPolicy",
      builtIn: "no retries",
      gatewayApi: "`retry` of the rule, `ExtensionRef` to RetryPolicy",
      fallback: "failed requests are not retried",
      doc: "The RetryPolicy that defines when a request that failed upstream is retried.",
    }),
  },
});
