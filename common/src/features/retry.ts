import { z } from "zod";
import { maxDurationMs } from "../values/duration.ts";
import { defineTranslatedFeature, defineReference } from "./definition.ts";

/** The conditions under which a request that failed upstream is sent again. See docs/features/retry.md. */
export const retrySchema = z.object({
  /** The maximum number of attempts after the first one. */
  attempts: z.int().positive(),
  /** Statuses of responses that are discarded in favour of another attempt. */
  codes: z.array(z.int().min(100).max(599)),
  /** The minimum wait before each retry in milliseconds; none if absent. */
  backoffMs: z.number().positive().max(maxDurationMs).optional(),
  /** gRPC statuses of responses without messages that are discarded in favour of another attempt. */
  grpcCodes: z.array(z.int().min(1).max(16)).optional(),
  /**
   * The only failures without a response that are followed by another attempt: `error` is no connection or a broken
   * one, `timeout` one that took too long, `invalid-response` a response that is not HTTP. If absent, the failures are
   * those of the page. If set, POST, LOCK and PATCH requests that an upstream may have seen are not repeated after any
   * failure.
   */
  conditions: z.array(z.enum(["error", "timeout", "invalid-response"])).optional(),
  /** With `conditions`, POST, LOCK and PATCH requests are repeated too. */
  everyMethod: z.literal(true).optional(),
  /**
   * The time after the beginning of the first attempt in which further attempts can begin, in milliseconds; unlimited
   * if absent.
   */
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
