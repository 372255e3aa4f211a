import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  groupReference,
  rewriteTarget,
  type RewriteTarget,
} from "@svc-gateway/common/features/rewrite-target.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The path that an Ingress's upstreams see; absent: that of the client. See docs/features/rewrite-target.md. */
export function translateRewriteTarget(read: AnnotationReader): RewriteTarget | undefined {
  const value = read(rewriteTarget.annotations.rewriteTarget);
  return value === undefined
    ? undefined
    : { path: { type: "full", value: value.startsWith("/") ? value : `/${value}` } };
}

/**
 * The features of a route whose path is an expression: a new path that refers to groups is expanded there. A group may
 * bring the leading slash, so `value` is as it was written.
 */
export function expandRewriteTarget(
  features: RouteFeatures | undefined,
  value: string | undefined,
  pattern: string,
): RouteFeatures | undefined {
  if (value === undefined || !groupReference.test(value)) return features;
  return { ...features, "rewrite-target": { path: { type: "expand", value, pattern } } };
}
