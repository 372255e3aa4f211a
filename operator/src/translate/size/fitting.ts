import { noChanges, type Changes } from "@svc-gateway/common/collections/list-changes.ts";
import { nothingLeftOut, type LeftOut, type LeftOutObject } from "./object-size.ts";

/**
 * Turns changes of objects' contributions into changes of what remains of them. Each call returns the remainders
 * that no longer apply, and those that apply now. A contribution of which nothing is left out is returned unchanged.
 */
export function createFitting<T extends object>(options: {
  /** Returns the key of an object among those that are left out; undefined if it can never be left out. */
  readonly keyOf: (one: T) => string | undefined;
  readonly fit: (one: T, leftOut: LeftOutObject) => T;
}): (changes: Changes<T>, leftOut: LeftOut) => Changes<T> {
  const { keyOf, fit } = options;
  const present = new Map<string, T>();
  /** Remainders of contributions that are not returned unchanged. */
  const fitted = new Map<T, T>();
  let last = nothingLeftOut;

  const show = (one: T, leftOut: LeftOutObject | undefined): T => {
    if (leftOut === undefined) return one;
    const shown = fit(one, leftOut);
    fitted.set(one, shown);
    return shown;
  };
  const hide = (one: T): T => {
    const shown = fitted.get(one) ?? one;
    fitted.delete(one);
    return shown;
  };

  return (changes, leftOut) => {
    const removed = changes.removed.map((one) => {
      const key = keyOf(one);
      if (key !== undefined && present.get(key) === one) present.delete(key);
      return hide(one);
    });
    const added: T[] = [];
    const isNew = new Set<T>(leftOut === last ? [] : changes.added);
    for (const one of changes.added) {
      const key = keyOf(one);
      if (key !== undefined) present.set(key, one);
      added.push(show(one, key === undefined ? undefined : leftOut.get(key)));
    }
    if (leftOut !== last) {
      for (const key of new Set([...last.keys(), ...leftOut.keys()])) {
        const one = present.get(key);
        if (one === undefined || isNew.has(one) || last.get(key) === leftOut.get(key)) continue;
        removed.push(hide(one));
        added.push(show(one, leftOut.get(key)));
      }
      last = leftOut;
    }
    return removed.length + added.length === 0 ? noChanges : { removed, added };
  };
}
