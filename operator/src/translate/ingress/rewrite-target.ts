import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { hasGroupReference } from "@svc-gateway/common/features/rewrite-target.ts";

/**
 * The features of a route whose path is a regular expression: a new path that refers to groups is expanded there. A
 * group may bring the leading slash, so `value` is as it was written. See docs/features/rewrite-target.md.
 */
export function expandRewriteTarget(
  features: RouteFeatures | undefined,
  value: string | undefined,
  pattern: string,
): RouteFeatures | undefined {
  if (value === undefined || !hasGroupReference(value)) return features;
  return { ...features, "rewrite-target": { path: { type: "expand", value, pattern } } };
}
