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
  /**
   * The only failures without a response that are followed by another attempt: `error` none or a broken connection, `timeout`
   * one that took too long, `invalid-response` what is not HTTP. Absent: those of the page. With it, POST, LOCK and PATCH
   * requests that an upstream may have seen are not repeated, whatever has failed.
   */
  conditions: z.array(z.enum(["error", "timeout", "invalid-response"])).optional(),
  /** With `conditions`, such requests are repeated as well. */
  everyMethod: z.literal(true).optional(),
  /** No attempt begins later than this after the first one, in milliseconds; absent: at any time. */
  withinMs: z.number().positive().max(maxDurationMs).optional(),
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
