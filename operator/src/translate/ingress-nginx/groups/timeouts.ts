/** Timeouts of requests to backends. See docs/ingress-nginx.md, "Timeouts". */
import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import { maxDurationMs } from "@svc-gateway/common/values/duration.ts";
import { zeroTimeout } from "../../diagnostics/ingress-nginx.ts";
import type { NginxAnnotation } from "../annotations/declare.ts";
import { proxyConnectTimeout, proxyReadTimeout, proxySendTimeout } from "../annotations/forwarding.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext } from "./group.ts";

export const timeouts: Group = (read, context) => {
  const connectTimeoutMs = readTime(proxyConnectTimeout, read, context);
  const readGapMs = readTime(proxyReadTimeout, read, context);
  const sendGapMs = readTime(proxySendTimeout, read, context);
  const isConnectSet = read.sourceOf(proxyConnectTimeout) !== "built-in";
  const value: Timeouts = {
    // The built-in limit is that of the proxy, which the operator and a policy of the Service can set.
    ...(isConnectSet && connectTimeoutMs !== undefined && { connectTimeoutMs }),
    connectTimeoutStatus: 504,
    ...(readGapMs !== undefined && { readGapMs }),
    ...(sendGapMs !== undefined && { sendGapMs }),
  };
  return { features: { timeouts: value } };
};

/** A time in milliseconds; undefined if an annotation of this gateway decides. */
function readTime(
  annotation: NginxAnnotation<number>,
  read: NginxReader,
  context: GroupContext,
): number | undefined {
  const seconds = read(annotation);
  if (seconds === undefined) return undefined;
  if (seconds > 0) return clip(seconds * 1000, annotation, read, context);
  const usedMs = defaultSeconds(annotation, context) * 1000;
  const text = `0 would answer every request 504 in ingress-nginx; here ${usedMs / 1000} s apply`;
  context.report(annotation, (place) => zeroTimeout(place, `${annotation.name}: ${text}`), {
    outcome: "differently",
    text,
  });
  return usedMs;
}

/** The next value by precedence that is not 0. */
function defaultSeconds({ name, builtIn = 60 }: NginxAnnotation<number>, { nginx }: GroupContext): number {
  const ofClass = nginx.defaults.get(name);
  const found = [ofClass?.ok === true ? ofClass.value : undefined, nginx.config.defaults.get(name)].find(
    (value) => typeof value === "number" && value > 0,
  );
  return typeof found === "number" ? Math.min(found, maxDurationMs / 1000) : builtIn;
}

function clip(
  ms: number,
  annotation: NginxAnnotation<number>,
  read: NginxReader,
  context: GroupContext,
): number {
  if (ms <= maxDurationMs) return ms;
  if (read.sourceOf(annotation) === "annotation")
    context.differs(annotation, "times are limited to 24 hours");
  return maxDurationMs;
}
