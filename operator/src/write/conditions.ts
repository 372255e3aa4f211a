import { isDeepStrictEqual } from "node:util";
import type { DesiredCondition } from "../translate/condition.ts";

export type ConditionsInput = {
  /** The conditions stored in the API server; undefined if the object has none. */
  readonly current: unknown;
  readonly desired: readonly DesiredCondition[];
  /** Condition types of this controller; those that are not desired are removed. */
  readonly owned: ReadonlySet<string>;
  /** The generation of the object from which `desired` was computed. */
  readonly generation: number | undefined;
  readonly nowMs: number;
};

/**
 * Returns the desired conditions: own ones are replaced by type, all others are unchanged and keep their position. An
 * equal condition keeps its identity, the transition time changes only with the status, and conditions of an older
 * generation do not replace those of a newer one.
 */
export function mergeConditions({ current, desired, owned, generation, nowMs }: ConditionsInput): unknown[] {
  const wanted = new Map(desired.map((condition) => [condition.type, condition]));
  const merged: unknown[] = [];
  for (const present of entriesOf(current)) {
    const type = typeof present["type"] === "string" ? present["type"] : "";
    const condition = wanted.get(type);
    wanted.delete(type);
    if (condition !== undefined) merged.push(renew(present, condition, generation, nowMs));
    else if (!owned.has(type)) merged.push(present);
  }
  for (const condition of wanted.values()) merged.push(renew(undefined, condition, generation, nowMs));
  return merged;
}

export type OwnedEntries<T> = {
  /** The list stored in the API server, such as `status.parents` or `status.ancestors`. */
  readonly current: unknown;
  /** Our desired entries, by key. Each function receives the present entry, if any. */
  readonly desired: ReadonlyMap<string, (present: T | undefined) => T>;
  readonly isOurs: (entry: T) => boolean;
  readonly keyOf: (entry: T) => string;
};

/**
 * Merges a list that several controllers share: our entries are replaced, added or removed, all others keep their
 * position.
 */
export function mergeOwnedEntries<T extends object>(input: OwnedEntries<T>): unknown[] {
  const { current, desired, isOurs, keyOf } = input;
  const missing = new Map(desired);
  const merged: unknown[] = [];
  for (const present of entriesOf(current) as T[]) {
    if (!isOurs(present)) {
      merged.push(present);
      continue;
    }
    const make = missing.get(keyOf(present));
    missing.delete(keyOf(present));
    if (make !== undefined) merged.push(make(present));
  }
  for (const make of missing.values()) merged.push(make(undefined));
  return merged;
}

function renew(
  present: Readonly<Record<string, unknown>> | undefined,
  { type, status, reason, message, observedGeneration }: DesiredCondition,
  generationOfObject: number | undefined,
  nowMs: number,
): unknown {
  const generation = observedGeneration ?? generationOfObject;
  const known = present?.["observedGeneration"];
  if (typeof known === "number" && generationOfObject !== undefined && known > generationOfObject) {
    return present;
  }
  const time = present?.["lastTransitionTime"];
  const isSameStatus = present?.["status"] === status && typeof time === "string";
  const next = {
    type,
    status,
    reason,
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastTransitionTime: isSameStatus ? time : formatTime(nowMs),
  };
  return isDeepStrictEqual(present, next) ? present : next;
}

/** Formats a time in whole seconds, as the API server stores it. */
const formatTime = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");

const entriesOf = (list: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(list)
    ? list.filter((entry): entry is Record<string, unknown> => typeof entry === "object" && entry !== null)
    : [];
