import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { hasGroupReference } from "@svc-gateway/common/features/rewrite-target.ts";

/**
 * Returns the features of a route whose path is a regular expression. A new path that refers to groups is
 * expanded for each request. `value` is as written, because a group can contain the leading slash. See
 * docs/features/rewrite-target.md.
 */
export function expandRewriteTarget(
  features: RouteFeatures | undefined,
  value: string | undefined,
  pattern: string,
): RouteFeatures | undefined {
  if (value === undefined || !hasGroupReference(value)) return features;
  return { ...features, "rewrite-target": { path: { type: "expand", value, pattern } } };
}
