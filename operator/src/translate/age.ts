import type { KubeObject } from "../api/object.ts";

/**
 * The precedence of objects by age. Of several objects that claim the same thing, the oldest one gets it.
 * Objects of the same second, and objects without a time (such as manifests in a folder), are ordered by
 * `namespace/name`. See docs/routing.md.
 */
export type Age = { readonly createdMs: number; readonly key: string };

export function ageOf({ metadata }: KubeObject): Age {
  const createdMs = Date.parse(metadata.creationTimestamp ?? "");
  return {
    createdMs: Number.isNaN(createdMs) ? 0 : createdMs,
    key: `${metadata.namespace ?? ""}/${metadata.name}`,
  };
}

/** Orders the oldest first. */
export const compareAges = (a: Age, b: Age): number => a.createdMs - b.createdMs || compareText(a.key, b.key);

/** The reason why `first` precedes `second`, as the predicate of a sentence whose subject is `first`. */
export function describePrecedence(first: KubeObject, second: KubeObject): string {
  return ageOf(first).createdMs < ageOf(second).createdMs
    ? "is older"
    : "is as old and precedes by namespace and name";
}

/** Compares by UTF-16 code units, so that the order is the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
