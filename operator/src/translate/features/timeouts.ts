import { timeouts, type Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The time limits of an Ingress's upstream requests. See docs/features/timeouts.md. */
export function translateTimeouts(read: AnnotationReader): Timeouts | undefined {
  const readTimeoutMs = read(timeouts.annotations.readTimeout);
  const sendTimeoutMs = read(timeouts.annotations.sendTimeout);
  if (readTimeoutMs === undefined && sendTimeoutMs === undefined) return undefined;
  return {
    ...(readTimeoutMs !== undefined && { readTimeoutMs }),
    ...(sendTimeoutMs !== undefined && { sendTimeoutMs }),
  };
}
