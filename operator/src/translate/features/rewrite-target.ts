import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  groupReference,
  rewriteTarget,
  type RewriteTarget,
} from "@svc-gateway/common/features/rewrite-target.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The path that an Ingress's upstreams see; absent: that of the client. See docs/features/rewrite-target.md. */
export function translateRewriteTarget(read: AnnotationReader): RewriteTarget | undefined {
  const path = read(rewriteTarget.annotations.rewriteTarget);
  return path && { path };
}

/** The features of a route whose path is an expression: a new path that refers to groups is expanded there. */
export function expandRewriteTarget(
  features: RouteFeatures | undefined,
  pattern: string,
): RouteFeatures | undefined {
  const path = features?.["rewrite-target"]?.path;
  if (path === undefined || !groupReference.test(path.value)) return features;
  return { ...features, "rewrite-target": { path: { type: "expand", value: path.value, pattern } } };
}
