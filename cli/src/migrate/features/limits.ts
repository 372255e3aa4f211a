/** Writes limits on sizes, times and rates of requests. */
import { noteIf, policy, type FeatureWriter } from "../written.ts";

/** Formats a size in the largest unit of which it is a multiple. */
function sizeText(bytes: number): string {
  const units: readonly (readonly [number, string])[] = [
    [1024 ** 3, "g"],
    [1024 ** 2, "m"],
    [1024, "k"],
  ];
  const unit = units.find(([size]) => bytes > 0 && bytes % size === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[0]}${unit[1]}`;
}

/** Formats a duration, in seconds if it is a multiple of them, otherwise in milliseconds. */
export const durationText = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`);

export const writeMaxBodySize: FeatureWriter<"max-body-size"> = ({ maxBytes, early }) => ({
  annotations: { "max-body-size": sizeText(maxBytes) },
  notes: noteIf(
    early === true,
    "max-body-size.early",
    "changed",
    "Bodies are measured after redirects and address rules instead of before them",
  ),
});

export const writeTimeouts: FeatureWriter<"timeouts"> = (value) => {
  const texts: readonly (readonly [string, number | undefined])[] = [
    ["read-timeout", value.readTimeoutMs],
    ["send-timeout", value.sendTimeoutMs],
    ["connect-timeout", value.connectTimeoutMs],
    ["read-gap-timeout", value.readGapMs],
    ["send-gap-timeout", value.sendGapMs],
  ];
  const annotations = Object.fromEntries(
    texts.flatMap(([name, ms]) => (ms === undefined ? [] : [[name, durationText(ms)] as const])),
  );
  const status = value.connectTimeoutStatus;
  return {
    annotations: {
      ...annotations,
      ...(status !== undefined && { "connect-timeout-status": String(status) }),
    },
  };
};

export const writeRateLimit: FeatureWriter<"rate-limit"> = (value, { define, namespace }) => {
  const { requestsPerSecond, burst, byHeader, rates, maxConcurrent, exempt, zone, pace } = value;
  const spec = {
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(burst !== undefined && { burst }),
    ...(byHeader !== undefined && { byHeader }),
    ...(rates !== undefined && {
      rates: rates.map(({ periodMs, ...rate }) => ({ ...rate, period: durationText(periodMs) })),
    }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(exempt !== undefined && { exempt }),
    ...(zone !== undefined && { scope: "Namespace" }),
    ...(value.status !== undefined && { status: value.status }),
    ...(value.concurrentStatus !== undefined && { concurrentStatus: value.concurrentStatus }),
    ...(pace !== undefined && { bandwidth: pace }),
  };
  return { annotations: { "rate-limit": `${namespace}/${define(policy("RateLimit", spec))}` } };
};
