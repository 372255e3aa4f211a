import { isDeepStrictEqual } from "node:util";
import type { DesiredCondition } from "../translate/condition.ts";
import { mergeConditions, mergeOwnedEntries } from "../write/conditions.ts";
import type { StatusChange } from "../write/status-writer.ts";

/** An object that a policy affects (Gateway API, PolicyAncestorStatus), and the conditions of the policy there. */
export type DesiredAncestor = {
  readonly ref: AncestorRef;
  readonly conditions: readonly DesiredCondition[];
};

type AncestorRef = {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
};

/** An entry as stored in the API server; other writers may have set any fields. */
type Entry = {
  readonly ancestorRef?: object;
  readonly controllerName?: unknown;
  readonly conditions?: unknown;
};

/** The largest number of entries in `status.ancestors`, over all controllers. */
const maxAncestors = 16;

/**
 * Updates our entries of `status.ancestors` and keeps those of other controllers unchanged. If there is no room for
 * all, the entries of others and the first of ours are kept. The list stays, even if it is empty: BackendTLSPolicy
 * requires it (Gateway API, PolicyStatus).
 */
export function setAncestors(
  controllerName: string,
  desired: readonly DesiredAncestor[],
  generation: number | undefined,
): StatusChange {
  return (status, nowMs) => {
    const current = (status as { readonly ancestors?: unknown } | undefined)?.ancestors;
    const ancestors = mergeOwnedEntries<Entry>({
      current,
      isOurs: (entry) => entry.controllerName === controllerName,
      keyOf: ({ ancestorRef }) => keyOf(ancestorRef),
      desired: new Map(
        desired.map(({ ref, conditions: wanted }) => [
          keyOf(ref),
          (present) => {
            const conditions = mergeConditions({
              current: present?.conditions,
              desired: wanted,
              owned: new Set(wanted.map(({ type }) => type)),
              generation,
              nowMs,
            });
            return { ancestorRef: present?.ancestorRef ?? ref, controllerName, conditions };
          },
        ]),
      ),
    }).slice(0, maxAncestors);
    return isDeepStrictEqual(current ?? [], ancestors) ? {} : { ancestors };
  };
}

/** The identity of an ancestor, with its defaults filled in. */
function keyOf(ref: object | undefined): string {
  const {
    group = "",
    kind = "Service",
    namespace = "",
    name = "",
    sectionName = "",
  } = (ref ?? {}) as Partial<AncestorRef>;
  return JSON.stringify([group, kind, namespace, name, sectionName]);
}
