import { refOf, type KubeObject } from "../api/object.ts";
import { internalError } from "./diagnostics/objects.ts";
import type { Diagnostic } from "./finding.ts";

/**
 * Runs the part of the translation that concerns one object. If it throws, because of a bug or because the
 * content of the object does not match its type, only that object is not served: the result is `otherwise`,
 * with an `InternalError`.
 */
export function attempt<T extends { readonly diagnostics: readonly Diagnostic[] }>(
  object: KubeObject,
  compute: () => T,
  otherwise: Omit<T, "diagnostics">,
): T {
  try {
    return compute();
  } catch (error) {
    const diagnostics = [internalError({ object: refOf(object) }, error)];
    // T is the rest of T and its diagnostics.
    return { ...otherwise, diagnostics } as unknown as T;
  }
}
