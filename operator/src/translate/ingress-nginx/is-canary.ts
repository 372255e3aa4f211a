/** Detects canaries, and the annotations that count on them. See docs/ingress-nginx.md, "Canaries". */
import { canary as ownCanary } from "@svc-gateway/common/features/canary.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { hasOwnValue } from "../features/annotation-reader.ts";
import { isOwnCanary } from "../ingress/canary.ts";
import { canary } from "./annotations/canary.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import { nginxKey, type NginxClass } from "./class.ts";
import { readValue } from "./value.ts";

/**
 * Whether an Ingress is a canary, by the annotation of this gateway if it is set. The `spec.tls` of a canary is
 * ignored.
 */
export function isCanary(ingress: ObjectOf<"Ingress">, { settings }: NginxClass): boolean {
  const { annotations = {} } = ingress.metadata;
  if (hasOwnValue(annotations, ownCanary.annotations.canary)) return isOwnCanary(ingress);
  const raw = annotations[nginxKey(canary, settings)];
  const value = raw === undefined ? undefined : readValue(canary, raw);
  return value?.ok === true && value.value;
}

/** Whether an annotation has an effect on a canary. All other settings are those of the primary Ingress. */
export const countsOnCanary = ({ name }: Pick<NginxAnnotation, "name">): boolean =>
  /^(?:canary|load-balance$|upstream-hash-by|affinity|session-cookie-)/.test(name);
