import { refOf, type KubeObject } from "../api/object.ts";
import { internalError } from "./diagnostics/objects.ts";
import type { Diagnostic } from "./finding.ts";

/**
 * Runs the part of the translation that looks at one object. A bug in it, or an object that is not what its type says,
 * costs only what that object would have served: the result is then `otherwise`, with an `InternalError`.
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
