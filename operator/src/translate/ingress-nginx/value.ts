/** Reads the value of one annotation by its declaration. */
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";

/** The maximum number of characters of a value. Longer values are not read. */
const maxValueLength = 65_536;

/** Reads the value; undefined for an empty one that counts as absent. */
export function readValue<T>(annotation: NginxAnnotation<T>, raw: string): Result<T> | undefined {
  if (raw.length > maxValueLength) return problem(`has more than ${maxValueLength} characters`);
  if (raw.trim() !== "") return annotation.form.parse(raw);
  return annotation.empty === undefined ? undefined : problem("is empty");
}

/**
 * Whether a value that cannot be read closes the paths of the Ingress: if ingress-nginx does so, if ingress-nginx
 * would switch a protection off, or if ingress-nginx would not load an Ingress that is meant to be protected.
 */
export const isClosing = ({ bad, protective }: NginxAnnotation): boolean =>
  bad === "D" || bad === "O" || (bad === "X" && protective === true);
