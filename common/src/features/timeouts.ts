import { z } from "zod";
import { durationForm, maxDurationMs, parseDuration } from "../values/duration.ts";
import { enumForm, formProblem } from "../values/form.ts";
import { ok, type Result } from "../values/result.ts";
import { defineAnnotation, defineFeature } from "./definition.ts";

const timeoutSchema = z.number().positive().max(maxDurationMs).optional();

/**
 * Limits on a request and on the upstream side of it, in milliseconds; an absent one is no limit. See
 * docs/features/timeouts.md.
 */
export const timeoutsSchema = z.object({
  /** The time from the head of the request to the end of the response, including all attempts. */
  requestTimeoutMs: timeoutSchema,
  /** The time from the beginning of one attempt to the end of the head of its response. */
  backendTimeoutMs: timeoutSchema,
  /** The time from the end of the request to the beginning of the response. */
  readTimeoutMs: timeoutSchema,
  /** The time from the connection to the end of the request. */
  sendTimeoutMs: timeoutSchema,
  /** The time to open a connection, instead of the limit of the Service or the proxy. */
  connectTimeoutMs: timeoutSchema,
  /** The status if no connection is established in time; 502 if absent. */
  connectTimeoutStatus: z.literal(504).optional(),
  /**
   * The maximum gap between two reads of the response, including its head; on an upgraded connection, the maximum time
   * without a byte in either direction. It replaces the idle timeouts of the proxy while it applies.
   */
  readGapMs: timeoutSchema,
  /** The maximum time in which the upstream accepts no byte of a request that waits to be sent. */
  sendGapMs: timeoutSchema,
  /** Whether the rule sets the first two limits itself, so that the defaults of the proxy do not apply to it. */
  replacesDefaults: z.literal(true).optional(),
});

export type Timeouts = Readonly<z.infer<typeof timeoutsSchema>>;

/** Reads a timeout in milliseconds. Zero yields undefined, which is the same as no annotation. */
export function parseTimeout(text: string): Result<number | undefined> {
  const duration = parseDuration(text);
  return duration.ok && duration.value === 0 ? ok(undefined) : duration;
}

const connectStatusForm = enumForm("a status for a connection that is not established", ["502", "504"]);

function parseConnectStatus(text: string): Result<502 | 504> {
  const status = text.trim();
  if (status === "502") return ok(502);
  return status === "504" ? ok(504) : formProblem(connectStatusForm, status);
}

export const timeouts = defineFeature({
  slug: "timeouts",
  schema: timeoutsSchema,
  annotations: {
    readTimeout: defineAnnotation({
      name: "read-timeout",
      type: "duration",
      form: durationForm,
      builtIn: "no limit",
      gatewayApi: "`timeouts.backendRequest`, of the whole attempt",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the wait for a response is not limited",
      doc: "Longest wait for the response to begin after the request has been sent; then 504.",
      parse: parseTimeout,
    }),
    sendTimeout: defineAnnotation({
      name: "send-timeout",
      type: "duration",
      form: durationForm,
      builtIn: "no limit",
      gatewayApi: "`timeouts.backendRequest`, of the whole attempt",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the time for sending a request is not limited",
      doc: "Longest time for sending the whole request to the upstream; then 504.",
      parse: parseTimeout,
    }),
    readGap: defineAnnotation({
      name: "read-gap-timeout",
      type: "duration",
      form: durationForm,
      builtIn: "the idle timeout of the proxy",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the idle timeouts of the proxy apply",
      doc: "Longest gap between two reads of the response, its beginning included, and longest idle time of an upgraded connection.",
      parse: parseTimeout,
    }),
    sendGap: defineAnnotation({
      name: "send-gap-timeout",
      type: "duration",
      form: durationForm,
      builtIn: "no limit",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "gaps in sending a request are not limited",
      doc: "Longest time in which the upstream takes nothing of a request that waits to be sent; then 504.",
      parse: parseTimeout,
    }),
    connect: defineAnnotation({
      name: "connect-timeout",
      type: "duration",
      form: durationForm,
      builtIn: "that of the Service, else of the proxy",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the limit of the Service or of the proxy applies",
      doc: "Longest time for opening a connection to the upstream, instead of the limit of the Service or the proxy.",
      parse: parseTimeout,
    }),
    connectStatus: defineAnnotation({
      name: "connect-timeout-status",
      type: "integer",
      form: connectStatusForm,
      builtIn: "502",
      gatewayApi: "none",
      classDefault: true,
      onInvalid: "ignore",
      fallback: "the status is 502",
      doc: "Status when no connection is opened in time: 502 or 504; 502 when absent.",
      parse: parseConnectStatus,
    }),
  },
  fromAnnotations: ({ readTimeout, sendTimeout, readGap, sendGap, connect, connectStatus }) => {
    const limits: Timeouts = {
      ...(readTimeout !== undefined && { readTimeoutMs: readTimeout }),
      ...(sendTimeout !== undefined && { sendTimeoutMs: sendTimeout }),
      ...(connect !== undefined && { connectTimeoutMs: connect }),
      ...(connectStatus === 504 && { connectTimeoutStatus: connectStatus }),
      ...(readGap !== undefined && { readGapMs: readGap }),
      ...(sendGap !== undefined && { sendGapMs: sendGap }),
    };
    return Object.keys(limits).length === 0 ? undefined : limits;
  },
});
