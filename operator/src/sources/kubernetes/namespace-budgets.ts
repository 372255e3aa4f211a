/** Limits the memory that a controller uses for the objects of one namespace. See docs/controller.md, "Memory". */
import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** An object with the memory that it takes, or would take if it were held. */
export type Weighed = {
  readonly namespace: string;
  readonly bytes: number;
  /** Objects of the lowest rank are left out last. */
  readonly rank: number;
  readonly createdMs: number;
};

export type NamespaceBudgets = {
  /** Sets the weight of an object. Returns false if there is no room for it, because it is among the newest. */
  put(key: string, object: Weighed): boolean;
  delete(key: string): void;
  /** Whether any namespace exceeds its budget. */
  isExceeded(): boolean;
};

export type NamespaceBudgetsOptions = {
  readonly maxBytes: number;
  /** Called when an object is left out; `onReturn` is called when it can be held again. */
  readonly onLeave: (key: string) => void;
  readonly onReturn: (key: string) => void;
  readonly clock: Pick<Clock, "schedule">;
};

type Entry = Weighed & { readonly key: string; isHeld: boolean };

type Namespace = {
  readonly entries: Map<string, Entry>;
  bytes: number;
  /** The first object that is left out; newer ones are left out, too. */
  firstOut: Entry | undefined;
  cancelSettle: (() => void) | undefined;
};

/** The shortest interval between selections of the held objects, which are slow for many objects. */
const settleMs = 250;

/**
 * Decides which objects of namespaces over their budget are held: in the order of rank, then of age, the oldest first,
 * until the budget is spent. Replicas that have seen the same objects hold the same ones.
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
      // Another object that is left out changes nothing for the others.
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

/** The approximate size of an object in bytes: the length of its JSON without escapes. */
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
