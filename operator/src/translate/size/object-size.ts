/**
 * The sizes of objects in snapshots, and the parts that are left out if a snapshot would become too large. See
 * docs/routing.md, "Size".
 */
import type { ObjectRef } from "../../api/object.ts";
import { formatRef } from "../../api/object.ts";
import type { Age } from "../age.ts";

/**
 * The degree to which an object is left out. 0: nothing is. 1: the backends and features of its matches, which
 * then answer 503. 2: its matches as well; its hosts answer 503 to requests that no other object matches. 3:
 * the whole object.
 */
export type Level = 0 | 1 | 2 | 3;

/** The key of the scope of the shared proxies. The key of the scope of a Gateway is `namespace/name`. */
export const sharedScope = "shared";

/** The size of an object in the snapshot of one scope. */
export type ScopeSize = {
  /** The key of the scope. */
  readonly scope: string;
  /** The bytes at the levels 0 to 2. Nothing remains at level 3. */
  readonly bytes: readonly [number, number, number];
};

/** The size of an object. */
export type ObjectSize = {
  readonly object: ObjectRef;
  readonly age: Age;
  readonly scopes: readonly ScopeSize[];
  /** Whether it is not served because it exceeds the limit of an object. */
  readonly isTooLarge: boolean;
};

/** The key of an object among those that are left out. */
export const sizeKey = formatRef;

/** An object that is left out, as a whole or in part. */
export type LeftOutObject = {
  readonly object: ObjectRef;
  readonly level: Exclude<Level, 0>;
  /** The scope that is full. */
  readonly scope: string;
  /** The bytes that the complete object would take there. */
  readonly bytes: number;
};

/** Objects that are left out, by key. The value is the same until something in it changes. */
export type LeftOut = ReadonlyMap<string, LeftOutObject>;

export const nothingLeftOut: LeftOut = new Map();
