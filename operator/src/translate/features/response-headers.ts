import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { responseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { readHeaderModifier } from "./header-modifier.ts";

/** The changes to the fields of an Ingress's responses. See docs/features/response-headers.md. */
export function translateResponseHeaders(read: AnnotationReader): HeaderModifier | undefined {
  const { responseHeaderSet, responseHeaderAdd, responseHeaderRemove } = responseHeaders.annotations;
  return readHeaderModifier(read, {
    set: responseHeaderSet,
    add: responseHeaderAdd,
    remove: responseHeaderRemove,
  });
}
