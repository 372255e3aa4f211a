import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { requestHeaders } from "@svc-gateway/common/features/request-headers.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { readHeaderModifier } from "./header-modifier.ts";

/** The changes to the fields of an Ingress's requests. See docs/features/request-headers.md. */
export function translateRequestHeaders(read: AnnotationReader): HeaderModifier | undefined {
  const { requestHeaderSet, requestHeaderAdd, requestHeaderRemove } = requestHeaders.annotations;
  return readHeaderModifier(read, {
    set: requestHeaderSet,
    add: requestHeaderAdd,
    remove: requestHeaderRemove,
  });
}
