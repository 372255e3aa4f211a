/** Assigns hosts to namespaces, with `--host-ownership namespace`. See docs/routing.md, "Who owns a host". */
import type { ObjectRef } from "../api/object.ts";
import { compareAges, type Age } from "./age.ts";

/** The oldest object that names a host. */
export type HostOwner = { readonly object: ObjectRef; readonly namespace: string; readonly age: Age };

/**
 * Returns the owner of a host as written: a name, `*.x`, or `*`. The owner of a wildcard does not own the names
 * that it covers.
 */
export type HostOwners = (host: string) => HostOwner | undefined;

export const noOwners: HostOwners = () => undefined;

/** The older of the two; if only one is defined, that one. */
export function olderOf(a: HostOwner | undefined, b: HostOwner | undefined): HostOwner | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareAges(a.age, b.age) <= 0 ? a : b;
}
