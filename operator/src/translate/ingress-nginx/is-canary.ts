/** Detects canaries, and the annotations that count on them. See docs/ingress-nginx.md, "Canaries". */
import type { ObjectOf } from "../../api/kinds.ts";
import { canary } from "./annotations/canary.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import { nginxKey, type NginxClass } from "./class.ts";
import { readValue } from "./value.ts";

/** Whether an Ingress is a canary. The `spec.tls` of a canary is ignored. */
export function isCanary({ metadata }: ObjectOf<"Ingress">, { settings }: NginxClass): boolean {
  const raw = metadata.annotations?.[nginxKey(canary, settings)];
  const value = raw === undefined ? undefined : readValue(canary, raw);
  return value?.ok === true && value.value;
}

/** Whether an annotation has an effect on a canary. All other settings are those of the primary Ingress. */
export const countsOnCanary = ({ name }: Pick<NginxAnnotation, "name">): boolean =>
  /^(?:canary|load-balance$|upstream-hash-by|affinity|session-cookie-)/.test(name);
