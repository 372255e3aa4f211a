/**
 * Annotations that earlier releases of this API had, and what has their settings now. They have no effect; their names
 * are kept so that a finding can say what to write instead (docs/reference/annotations.md, "Removed annotations").
 */
import { annotationPrefix } from "./definition.ts";

type RemovedAnnotations = {
  /** Names without the prefix; `*` at the end covers every name that begins so. */
  readonly names: readonly string[];
  /** The resource with these settings. */
  readonly kind: string;
  /** The name of the annotation that refers to it; undefined: it is attached to Services. */
  readonly annotation: string | undefined;
};

export const removedAnnotations: readonly RemovedAnnotations[] = [
  { names: ["retry-attempts", "retry-codes", "retry-backoff"], kind: "RetryPolicy", annotation: "retry" },
  {
    names: ["allow-source-range", "deny-source-range"],
    kind: "IpAccessControl",
    annotation: "ip-access-control",
  },
  {
    names: ["rate-limit-rps", "rate-limit-burst", "rate-limit-by"],
    kind: "RateLimit",
    annotation: "rate-limit",
  },
  { names: ["compression-*"], kind: "Compression", annotation: "compression" },
  {
    names: ["load-balance", "session-affinity*", "circuit-breaker*", "upstream-keepalive-timeout"],
    kind: "SvcBackendPolicy",
    annotation: undefined,
  },
];

const covers = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** What to write instead of a removed annotation, by its whole key; undefined for every other key. */
export function replacementOf(key: string): string | undefined {
  if (!key.startsWith(annotationPrefix)) return undefined;
  const name = key.slice(annotationPrefix.length);
  const found = removedAnnotations.find(({ names }) => names.some((pattern) => covers(pattern, name)));
  if (found === undefined) return undefined;
  return found.annotation === undefined
    ? `a ${found.kind} for the Service`
    : `${article(found.kind)} ${found.kind} that ${annotationPrefix}${found.annotation} names`;
}

const article = (kind: string): string => (/^[AEIOU]/.test(kind) ? "an" : "a");
