/**
 * The size of objects in snapshots, and how much of them is left out where a snapshot would become too large. See
 * docs/routing.md, "Size".
 */
import type { ObjectRef } from "../../api/object.ts";
import { formatRef } from "../../api/object.ts";
import type { Age } from "../age.ts";

/**
 * How much of an object is left out. 0: nothing. 1: what happens at its matches, which answer 503. 2: its matches, too;
 * its hosts answer 503 where no other object has something there. 3: all of it.
 */
export type Level = 0 | 1 | 2 | 3;

/** The key of the scope of the shared proxies, and of those of a Gateway (`namespace/name`). */
export const sharedScope = "shared";

/** The size of an object in the snapshot of one scope. */
export type ScopeSize = {
  /** The scope's key. */
  readonly scope: string;
  /** Bytes at the levels 0 to 2; nothing is left at 3. */
  readonly bytes: readonly [number, number, number];
};

/** The size of an object. */
export type ObjectSize = {
  readonly object: ObjectRef;
  readonly age: Age;
  readonly scopes: readonly ScopeSize[];
  /** Whether it is not served because it takes more than one object may. */
  readonly isTooLarge: boolean;
};

/** The key of an object in what is left out. */
export const sizeKey = formatRef;

/** An object of which something is left out. */
export type LeftOutObject = {
  readonly object: ObjectRef;
  readonly level: Exclude<Level, 0>;
  /** The scope that is full. */
  readonly scope: string;
  /** The bytes that the object would take there. */
  readonly bytes: number;
};

/** By key; the same value while nothing in it changes. */
export type LeftOut = ReadonlyMap<string, LeftOutObject>;

export const nothingLeftOut: LeftOut = new Map();
