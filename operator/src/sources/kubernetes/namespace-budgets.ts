/** What the objects of one namespace may take in the memory of a controller. See docs/controller.md, "Memory". */
import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** An object that takes memory, or would. */
export type Weighed = {
  readonly namespace: string;
  readonly bytes: number;
  /** Objects of the lowest rank are left out last. */
  readonly rank: number;
  readonly createdMs: number;
};

export type NamespaceBudgets = {
  /** An object has this weight from now on. False: there is no room for it, as it is among the newest. */
  put(key: string, object: Weighed): boolean;
  delete(key: string): void;
  /** Whether some namespace takes more than it may. */
  isExceeded(): boolean;
};

export type NamespaceBudgetsOptions = {
  readonly maxBytes: number;
  /** An object is left out, or may be held again. */
  readonly onLeave: (key: string) => void;
  readonly onReturn: (key: string) => void;
  readonly clock: Pick<Clock, "schedule">;
};

type Entry = Weighed & { readonly key: string; isHeld: boolean };

type Namespace = {
  readonly entries: Map<string, Entry>;
  bytes: number;
  /** The first one that is left out; newer ones are, too. */
  firstOut: Entry | undefined;
  cancelSettle: (() => void) | undefined;
};

/** The held objects are selected at most so often, since that is slow for many objects. */
const settleMs = 250;

/**
 * Decides what is held of namespaces that take too much: the objects of the lowest rank, and of one rank the oldest, as many
 * as there is room for. Every replica that has seen the same objects holds the same.
 */
export function createNamespaceBudgets({
  maxBytes,
  onLeave,
  onReturn,
  clock,
}: NamespaceBudgetsOptions): NamespaceBudgets {
  const namespaces = new Map<string, Namespace>();
  const namespaceOf = new Map<string, string>();
  let exceeded = 0;

  const remove = (key: string): Namespace | undefined => {
    const name = namespaceOf.get(key);
    const namespace = name === undefined ? undefined : namespaces.get(name);
    const entry = namespace?.entries.get(key);
    if (name === undefined || namespace === undefined || entry === undefined) return undefined;
    namespaceOf.delete(key);
    namespace.entries.delete(key);
    namespace.bytes -= entry.bytes;
    if (
      namespace.entries.size === 0 &&
      namespace.cancelSettle === undefined &&
      namespace.firstOut === undefined
    ) {
      namespaces.delete(name);
    }
    return namespace;
  };

  const settle = (name: string, namespace: Namespace): void => {
    namespace.cancelSettle = undefined;
    const wasExceeded = namespace.firstOut !== undefined;
    namespace.firstOut = undefined;
    let bytes = 0;
    for (const entry of [...namespace.entries.values()].sort(compare)) {
      bytes += entry.bytes;
      if (bytes > maxBytes) namespace.firstOut ??= entry;
      const isHeld = namespace.firstOut === undefined;
      if (isHeld === entry.isHeld) continue;
      entry.isHeld = isHeld;
      if (isHeld) onReturn(entry.key);
      else onLeave(entry.key);
    }
    const isExceeded = namespace.firstOut !== undefined;
    if (isExceeded !== wasExceeded) exceeded += isExceeded ? 1 : -1;
    if (namespace.entries.size === 0) namespaces.delete(name);
  };

  const settleSoon = (name: string, namespace: Namespace): void => {
    namespace.cancelSettle ??= clock.schedule(settleMs, () => settle(name, namespace));
  };

  return {
    put(key, object) {
      const wasHeld = namespaces.get(namespaceOf.get(key) ?? "")?.entries.get(key)?.isHeld;
      remove(key);
      const namespace = namespaces.get(object.namespace) ?? {
        entries: new Map(),
        bytes: 0,
        firstOut: undefined,
        cancelSettle: undefined,
      };
      namespaces.set(object.namespace, namespace);
      const entry: Entry = { ...object, key, isHeld: true };
      namespace.entries.set(key, entry);
      namespaceOf.set(key, object.namespace);
      namespace.bytes += object.bytes;
      const { firstOut } = namespace;
      if (namespace.bytes <= maxBytes && firstOut === undefined) return true;
      entry.isHeld = firstOut === undefined || compare(entry, firstOut) < 0;
      // A further one that is left out changes nothing for the others.
      const isFurther = firstOut !== undefined && firstOut.key !== key && !entry.isHeld && wasHeld !== true;
      if (!isFurther || namespace.bytes <= maxBytes) settleSoon(object.namespace, namespace);
      return entry.isHeld;
    },
    delete(key) {
      const name = namespaceOf.get(key);
      const namespace = remove(key);
      if (name !== undefined && namespace?.firstOut !== undefined) settleSoon(name, namespace);
    },
    isExceeded: () => exceeded > 0,
  };
}

const compare = (a: Entry, b: Entry): number =>
  a.rank - b.rank || a.createdMs - b.createdMs || (a.key < b.key ? -1 : 1);

/** About what an object takes, in bytes: the length of its JSON, without what would be escaped in it. */
export function weigh(value: unknown): number {
  switch (typeof value) {
    case "string":
      return value.length + 3;
    case "object": {
      if (value === null) return 5;
      let bytes = 2;
      if (Array.isArray(value)) for (const item of value) bytes += weigh(item);
      else for (const [key, item] of Object.entries(value)) bytes += key.length + 3 + weigh(item);
      return bytes;
    }
    default:
      return 6;
  }
}
