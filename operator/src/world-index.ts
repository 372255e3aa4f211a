/**
 * Indexes to find objects of a list without reading all of it. An index belongs to a list. The index of an edited list
 * is derived from the previous one by copying only the namespaces of the edits.
 */
import type { KubeObject } from "./api/object.ts";

/** Entries by namespace, then by a name in it: two steps, so that no key has to be assembled for a lookup. */
type Index<T> = ReadonlyMap<string, ReadonlyMap<string, T>>;

/** The change of the object of one name: added (no `before`), changed, or removed (no `after`). */
export type Edit = { readonly before: KubeObject | undefined; readonly after: KubeObject | undefined };

type ListIndex<T> = {
  readonly of: (list: readonly KubeObject[]) => Index<T>;
  /** Records that the list `to` is the list `from` with these edits. */
  readonly carry: (from: readonly KubeObject[], to: readonly KubeObject[], edits: readonly Edit[]) => void;
};

type NamespaceEdits<T> = (entries: Map<string, T>, edits: readonly Edit[]) => void;

function createListIndex<T>(apply: NamespaceEdits<T>): ListIndex<T> {
  const indexes = new WeakMap<readonly KubeObject[], Index<T>>();
  const edit = (index: Index<T>, edits: readonly Edit[]): Index<T> => {
    const next = new Map(index);
    for (const [namespace, ofNamespace] of Map.groupBy(edits, namespaceOf)) {
      const entries = new Map(index.get(namespace));
      apply(entries, ofNamespace);
      next.set(namespace, entries);
    }
    return next;
  };
  return {
    of: (list) => {
      const known = indexes.get(list);
      if (known !== undefined) return known;
      const index = edit(
        new Map(),
        list.map((after) => ({ before: undefined, after })),
      );
      indexes.set(list, index);
      return index;
    },
    carry: (from, to, edits) => {
      const index = indexes.get(from);
      if (index !== undefined) indexes.set(to, edit(index, edits));
    },
  };
}

const namespaceOf = ({ before, after }: Edit): string => (after ?? before)?.metadata.namespace ?? "";

/** Objects by namespace (empty for cluster-scoped ones) and name. */
export const objectsByName: ListIndex<KubeObject> = createListIndex((entries, edits) => {
  for (const { before, after } of edits) {
    if (after !== undefined) entries.set(after.metadata.name, after);
    else if (before !== undefined) entries.delete(before.metadata.name);
  }
});

export const serviceNameLabel = "kubernetes.io/service-name";

/** EndpointSlices by namespace and the name of their Service, in the order of their names. */
export const objectsByService: ListIndex<readonly KubeObject[]> = createListIndex((entries, edits) => {
  const touched = new Map<string, Set<KubeObject>>();
  const groupOf = (object: KubeObject | undefined): Set<KubeObject> | undefined => {
    const service = object?.metadata.labels?.[serviceNameLabel];
    if (service === undefined) return undefined;
    const group = touched.get(service) ?? new Set(entries.get(service));
    touched.set(service, group);
    return group;
  };
  for (const { before, after } of edits) {
    if (before !== undefined) groupOf(before)?.delete(before);
    if (after !== undefined) groupOf(after)?.add(after);
  }
  for (const [service, group] of touched) {
    if (group.size === 0) entries.delete(service);
    else entries.set(service, [...group].sort(compareNames));
  }
});

const compareNames = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);
