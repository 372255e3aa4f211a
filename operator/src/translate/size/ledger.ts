import type { Changes } from "@svc-gateway/common/collections/list-changes.ts";
import type { ObjectRef } from "../../api/object.ts";
import { compareText } from "../age.ts";
import { haveSameItems } from "../incremental/memo.ts";
import { chooseLeftOut, type Sized } from "./choose.ts";
import { nothingLeftOut, sizeKey, type LeftOut, type LeftOutObject, type ObjectSize } from "./object-size.ts";

/** The size of the objects of one namespace in one scope. */
export type NamespaceSize = { readonly namespace: string; readonly bytes: number };

/** Counts the bytes of objects in each scope. */
export type SizeLedger = {
  edit(changes: Changes<ObjectSize>): void;
  /** Returns the objects to leave out now. */
  leftOut(): LeftOut;
  /** Returns the objects that exceed the limit of an object, in the order of their keys. */
  tooLarge(): readonly ObjectRef[];
  /** Returns the size of each namespace by scope, largest first, before anything is left out. */
  sizes(): ReadonlyMap<string, readonly NamespaceSize[]>;
};

type Scope = { bytes: number; readonly namespaces: Map<string, number> };

/**
 * Creates a ledger. `maxBytes` is the limit of all objects of one scope together. A call costs as much as its
 * changes, unless a scope is full.
 */
export function createSizeLedger(maxBytes: number): SizeLedger {
  const objects = new Set<ObjectSize>();
  const scopes = new Map<string, Scope>();
  const large = new Map<string, ObjectRef>();
  let last = nothingLeftOut;
  let isCurrent = true;

  const count = ({ object, scopes: of }: ObjectSize, sign: 1 | -1): void => {
    for (const { scope: key, bytes } of of) {
      const scope = scopes.get(key) ?? { bytes: 0, namespaces: new Map() };
      scopes.set(key, scope);
      const namespace = object.namespace ?? "";
      const left = (scope.namespaces.get(namespace) ?? 0) + sign * bytes[0];
      if (left > 0) scope.namespaces.set(namespace, left);
      else scope.namespaces.delete(namespace);
      scope.bytes += sign * bytes[0];
      if (scope.bytes <= 0 && scope.namespaces.size === 0) scopes.delete(key);
    }
  };

  const choose = (): LeftOut => {
    const chosen = new Map<string, LeftOutObject>();
    for (const [key, { bytes }] of [...scopes].sort(byKey)) {
      if (bytes <= maxBytes) continue;
      for (const one of chooseLeftOut(key, sizedIn(objects, key), maxBytes)) {
        const known = chosen.get(sizeKey(one.object));
        if (known === undefined || known.level < one.level) chosen.set(sizeKey(one.object), one);
      }
    }
    return chosen.size === 0 ? nothingLeftOut : new Map([...chosen].sort(byKey));
  };

  return {
    edit({ removed, added }) {
      for (const size of removed) {
        objects.delete(size);
        if (size.isTooLarge) large.delete(sizeKey(size.object));
        count(size, -1);
      }
      for (const size of added) {
        objects.add(size);
        if (size.isTooLarge) large.set(sizeKey(size.object), size.object);
        count(size, 1);
      }
      if (removed.length + added.length > 0) isCurrent = false;
    },
    leftOut() {
      if (isCurrent) return last;
      isCurrent = true;
      const next = choose();
      if (!isSame(last, next)) last = next;
      return last;
    },
    tooLarge: () => [...large].sort(byKey).map(([, object]) => object),
    sizes: () =>
      new Map(
        [...scopes]
          .sort(byKey)
          .map(([key, { namespaces }]) => [
            key,
            [...namespaces]
              .map(([namespace, bytes]) => ({ namespace, bytes }))
              .sort((a, b) => b.bytes - a.bytes || compareText(a.namespace, b.namespace)),
          ]),
      ),
  };
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => compareText(a, b);

function sizedIn(objects: Iterable<ObjectSize>, scope: string): readonly Sized[] {
  const found: Sized[] = [];
  for (const size of objects) {
    for (const one of size.scopes) if (one.scope === scope) found.push({ size, bytes: one.bytes });
  }
  return found;
}

const isSame = (a: LeftOut, b: LeftOut): boolean =>
  haveSameItems([...a.keys()], [...b.keys()]) &&
  [...b].every(([key, { level, scope, bytes }]) => {
    const known = a.get(key);
    return known?.level === level && known.scope === scope && known.bytes === bytes;
  });
