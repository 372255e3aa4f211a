import type { Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { createKeyedList } from "./groups.ts";
import { memo } from "./memo.ts";

/** Findings and Events of one object, or of many. */
export type FindingsList = {
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/**
 * The findings of many objects in the order of their keys, kept up to date by changes. Objects without findings
 * cost nothing.
 */
export function createFindings<T extends FindingsList>(
  keyOf: (one: T) => string,
): { edit(changes: Changes<T>): void; readonly list: FindingsList } {
  const withFindings = createKeyedList(keyOf);
  const listOf = memo((all: readonly T[]): FindingsList => ({
    diagnostics: all.flatMap(({ diagnostics }) => diagnostics),
    events: all.flatMap(({ events }) => events),
  }));
  return {
    edit: ({ removed, added }) =>
      withFindings.edit({ removed: removed.filter(hasFindings), added: added.filter(hasFindings) }),
    get list() {
      return listOf(withFindings.entries.values);
    },
  };
}

const hasFindings = ({ diagnostics, events }: FindingsList): boolean =>
  diagnostics.length + events.length > 0;
