import { rewriteTarget, type RewriteTarget } from "@svc-gateway/common/features/rewrite-target.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The path that an Ingress's upstreams see; absent: that of the client. See docs/features/rewrite-target.md. */
export function translateRewriteTarget(read: AnnotationReader): RewriteTarget | undefined {
  const path = read(rewriteTarget.annotations.rewriteTarget);
  return path && { path };
}
