import type { Build } from "../../build/table-builder.ts";
import type { RouteKind } from "../../translate/gateway/kinds.ts";
import type { RouteStatus } from "../../translate/gateway/status/object-status.ts";
import { memo } from "../../translate/incremental/memo.ts";
import { mergeConditions, mergeOwnedEntries } from "../../write/conditions.ts";
import type { StatusChange } from "../../write/status-writer.ts";
import { statusReconciler, type DesiredStatus, type StatusReconciler } from "../status-reconciler.ts";
import { parentRefKey } from "./parent-ref.ts";

type ParentStatus = {
  readonly parentRef?: { readonly name: string };
  readonly controllerName?: string;
  readonly conditions?: unknown;
};

/** Condition types that this controller writes about a route at a parent. */
const owned: ReadonlySet<string> = new Set(["Accepted", "ResolvedRefs", "PartiallyInvalid"]);

/** Writes `status.parents` of the routes of one kind; the entries of other controllers are kept unchanged. */
export function routeReconciler(kind: RouteKind, controllerName: string): StatusReconciler {
  const isOurs = (entry: ParentStatus): boolean => entry.controllerName === controllerName;
  const changeOf = (route: RouteStatus): StatusChange => {
    const { generation, namespace } = route.object.metadata;
    const keyOf = (entry: ParentStatus): string => parentRefKey(entry.parentRef ?? {}, namespace);
    return (status, nowMs) => ({
      parents: mergeOwnedEntries<ParentStatus>({
        current: parentsOf(status),
        desired: new Map(
          route.parents.map(({ parentRef, conditions }) => [
            parentRefKey(parentRef, namespace),
            (present): ParentStatus => ({
              parentRef: present?.parentRef ?? parentRef,
              controllerName,
              conditions: mergeConditions({
                current: present?.conditions,
                desired: conditions,
                owned,
                generation,
                nowMs,
              }),
            }),
          ]),
        ),
        isOurs,
        keyOf,
      }),
    });
  };
  const desiredOf = memo((route: RouteStatus): DesiredStatus => ({
    object: route.object,
    change: changeOf(route),
  }));
  const statusesOf = memo((routes: readonly RouteStatus[]) =>
    routes.filter(({ object }) => object.kind === kind).map(desiredOf),
  );
  return statusReconciler({
    kind,
    statuses: ({ translation }: Build) => statusesOf(translation.gatewayStatuses.routes),
    release: () => (status) => ({
      parents: (parentsOf(status) as readonly ParentStatus[]).filter((entry) => !isOurs(entry)),
    }),
  });
}

const parentsOf = (status: unknown): readonly unknown[] => {
  const { parents } = (status ?? {}) as { readonly parents?: unknown };
  return Array.isArray(parents) ? parents : [];
};
