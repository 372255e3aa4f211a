import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import type { KindName } from "../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import type { Observed } from "../sources/kubernetes/held-objects.ts";
import type { StatusReconciler } from "./status-reconciler.ts";

export type StaleEntriesOptions = {
  /** The controller name in our entries of shared statuses. */
  readonly controllerName: string;
  /** Returns the status of an object (`namespace/name`) that the API server last reported. */
  readonly observed: (kind: KindName, name: string) => Pick<Observed, "status"> | undefined;
};

/** The lists of a status whose entries name the controller that wrote them (Gateway API, RouteStatus and PolicyStatus). */
type SharedStatus = { readonly parents?: unknown; readonly ancestors?: unknown };

/**
 * Extends a reconciler to objects that a build has no status for, but whose stored status has entries of this
 * controller: they are reconciled, which removes these entries. The reason for the entries can have ended while no
 * controller ran, or in the term of another leader, so a comparison with the previous build does not find them
 * (docs/gateway-api.md, "Conditions"). Objects of other controllers cause no reconciliation.
 */
export function withStaleEntries(
  reconciler: StatusReconciler,
  { controllerName, observed }: StaleEntriesOptions,
): StatusReconciler {
  const { kind } = reconciler;
  const hasEntries = (list: unknown): boolean =>
    Array.isArray(list) &&
    list.some(
      (entry: { readonly controllerName?: unknown } | null) => entry?.controllerName === controllerName,
    );
  const isMarked = (name: string): boolean => {
    const { parents, ancestors } = (observed(kind, name)?.status ?? {}) as SharedStatus;
    return hasEntries(parents) || hasEntries(ancestors);
  };
  return {
    ...reconciler,
    dirty(previous, next) {
      const names = new Set(reconciler.dirty(previous, next));
      const { added } = listChanges<KubeObject>(previous?.world[kind] ?? [], next.world[kind]);
      for (const object of added) {
        const name = nameOf(refOf(object));
        if (!names.has(name) && isMarked(name)) names.add(name);
      }
      return names;
    },
  };
}
