/**
 * Annotations of earlier releases of this API, and the resources that now have their settings. They have no effect;
 * their names are kept so that a finding can name the replacement (docs/reference/annotations.md, "Removed
 * annotations").
 */
import { annotationPrefix } from "./definition.ts";

type RemovedAnnotations = {
  /** Names without the prefix; a `*` at the end covers every name with that beginning. */
  readonly names: readonly string[];
  /** The kind of the resource with these settings. */
  readonly kind: string;
  /** The name of the annotation that refers to the resource; undefined if it is attached to Services. */
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

/** Returns the replacement of a removed annotation, by its full key; undefined for every other key. */
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
