import { plainText } from "@svc-gateway/common/telemetry/log-text.ts";

/**
 * Copies data and escapes the control characters of its strings as `\u00XX`. Names of objects, kinds and files come
 * from the authors of manifests, and could otherwise attack a terminal or add lines to a report. Keys are the project's
 * own.
 */
export function plainStrings<T>(value: T): T {
  if (typeof value === "string") return plainText(value) as T;
  if (Array.isArray(value)) return value.map(plainStrings) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainStrings(one)])) as T;
}
