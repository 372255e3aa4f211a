import { ok } from "@svc-gateway/common/values/result.ts";
import type { Reconciler } from "./reconciler.ts";

/**
 * Restricts a reconciler to the objects of namespaces that are served: another controller may serve the others, and
 * nothing there is written, released or deleted (docs/routing.md, "Namespaces"). By default, names are
 * `namespace/name`; an object without a namespace is always reconciled.
 */
export function onlyServed(
  reconciler: Reconciler,
  isServed: (namespace: string) => boolean,
  namespaceOf: (name: string) => string | undefined = namespaceIn,
): Reconciler {
  const isIncluded = (name: string): boolean => {
    const namespace = namespaceOf(name);
    return namespace === undefined || isServed(namespace);
  };
  return {
    ...reconciler,
    *dirty(previous, next) {
      for (const name of reconciler.dirty(previous, next)) if (isIncluded(name)) yield name;
    },
    // Names do not only come from `dirty`: a status that another writer changes is reconciled as well.
    reconcile: (name, context) =>
      isIncluded(name) ? reconciler.reconcile(name, context) : Promise.resolve(ok("not served")),
  };
}

function namespaceIn(name: string): string | undefined {
  const slash = name.indexOf("/");
  return slash === -1 ? undefined : name.slice(0, slash);
}
