import { maxBodySize, type MaxBodySize } from "@svc-gateway/common/features/max-body-size.ts";
import type { AnnotationReader } from "./annotation-reader.ts";

/** The cap of an Ingress's request bodies; absent: no cap. See docs/features/max-body-size.md. */
export const translateMaxBodySize = (read: AnnotationReader): MaxBodySize | undefined =>
  read(maxBodySize.annotations.maxBodySize);
