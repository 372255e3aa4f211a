import type { Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { createKeyedList } from "./groups.ts";
import { memo } from "./memo.ts";

/** What there is to tell people. */
export type FindingsList = {
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/**
 * The findings of many objects in the order of their keys, kept in line with the objects. Most objects have none, and
 * cost nothing here.
 */
export function createFindings<T extends FindingsList>(
  keyOf: (one: T) => string,
): { edit(changes: Changes<T>): void; readonly list: FindingsList } {
  const telling = createKeyedList(keyOf);
  const listOf = memo((all: readonly T[]): FindingsList => ({
    diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
    events: all.flatMap(({ events }) => events),
  }));
  return {
    edit: ({ gone, come }) => telling.edit({ gone: gone.filter(tells), come: come.filter(tells) }),
    get list() {
      return listOf(telling.entries.values);
    },
  };
}

const tells = ({ diagnostics, events }: FindingsList): boolean => diagnostics.length + events.length > 0;
