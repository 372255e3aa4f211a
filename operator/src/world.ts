/**
 * Everything that the gateway knows about the cluster at one moment, typed and immutable. Sources build worlds; the
 * translation only reads them. A list whose objects did not change keeps its identity from one world to the next, so
 * that whatever was derived from it can be kept as well (docs/architecture.md, "Level-based").
 */
import type { KubeObject } from "./api/object.ts";
import { kindNames, kindOf, type KindName, type ObjectOf } from "./api/kinds.ts";

/** All objects by kind; each list is sorted by namespace, then name, and holds no name twice. */
export type World = { readonly [K in KindName]: readonly ObjectOf<K>[] };

/** One object that appeared, changed or went away. */
export type WorldChange =
  | { readonly type: "apply"; readonly object: KubeObject }
  | { readonly type: "delete"; readonly kind: KindName; readonly namespace?: string; readonly name: string };

export const emptyWorld: World = Object.fromEntries(kindNames.map((kind) => [kind, []])) as unknown as World;

/**
 * The world that holds exactly these objects. They must have passed validation (operator/src/api/validate.ts, or an
 * API server). Of two objects with one name the later wins; objects of kinds that this gateway does not read are
 * left out.
 */
export function createWorld(objects: Iterable<KubeObject>): World {
  const changes: WorldChange[] = [];
  for (const object of objects) changes.push({ type: "apply", object });
  return updateWorld(emptyWorld, changes);
}

/**
 * The world after these changes, applied in order. The lists of other kinds, and lists that the changes leave as
 * they were, keep their identity. Costs one pass over each changed list, however many changes there are.
 */
export function updateWorld(world: World, changes: Iterable<WorldChange>): World {
  const changed: Record<string, readonly KubeObject[]> = {};
  for (const [kind, edits] of groupByKind(changes)) {
    const before: readonly KubeObject[] = world[kind];
    const after = mergeEdits(before, edits);
    if (after !== before) changed[kind] = after;
  }
  // `groupByKind` files every object under the kind that its apiVersion and kind name.
  return Object.keys(changed).length === 0 ? world : ({ ...world, ...changed } as World);
}

/** An object to put under a name, or undefined to remove what is there. */
type Edit = { readonly namespace: string; readonly name: string; readonly object: KubeObject | undefined };

function groupByKind(changes: Iterable<WorldChange>): ReadonlyMap<KindName, Edit[]> {
  const groups = new Map<KindName, Edit[]>();
  for (const change of changes) {
    const kind =
      change.type === "delete" ? change.kind : kindOf(change.object.apiVersion, change.object.kind);
    if (kind === undefined) continue;
    const edit =
      change.type === "delete"
        ? { namespace: change.namespace ?? "", name: change.name, object: undefined }
        : { ...keyOf(change.object), object: change.object };
    const edits = groups.get(kind);
    if (edits === undefined) groups.set(kind, [edit]);
    else edits.push(edit);
  }
  return groups;
}

function mergeEdits(before: readonly KubeObject[], edits: readonly Edit[]): readonly KubeObject[] {
  const ordered = [...edits].sort(compareKeys); // stable: of edits to one name, the last stays last
  const after: KubeObject[] = [];
  let differs = false;
  let at = 0;
  for (const [index, edit] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next !== undefined && compareKeys(edit, next) === 0) continue;
    let current = before[at];
    while (current !== undefined && compareKeys(keyOf(current), edit) < 0) {
      after.push(current);
      current = before[++at];
    }
    const replaced = current !== undefined && compareKeys(keyOf(current), edit) === 0 ? current : undefined;
    if (replaced !== undefined) at++;
    if (replaced !== edit.object) differs = true;
    if (edit.object !== undefined) after.push(edit.object);
  }
  if (!differs) return before;
  for (; at < before.length; at++) after.push(before[at] as KubeObject);
  return after;
}

type Key = { readonly namespace: string; readonly name: string };

const keyOf = ({ metadata }: KubeObject): Key => ({
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});

const compareKeys = (a: Key, b: Key): number =>
  compareText(a.namespace, b.namespace) || compareText(a.name, b.name);

/** Order of listings: by UTF-16 code units, the same on every machine. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Finds the object of a kind by namespace (empty for cluster-scoped kinds) and name. */
export type Lookup = <K extends KindName>(
  kind: K,
  namespace: string,
  name: string,
) => ObjectOf<K> | undefined;

/** The lookup of one world. Indexes belong to the lists, so that a world which shares a list shares its index. */
export function createLookup(world: World): Lookup {
  return <K extends KindName>(kind: K, namespace: string, name: string) =>
    // The index of the list of kind K holds objects of kind K.
    objectsByName(world[kind]).get(namespace)?.get(name) as ObjectOf<K> | undefined;
}

/** By namespace and name: two steps, so that no key has to be put together for a lookup. */
type Index<T> = ReadonlyMap<string, ReadonlyMap<string, T>>;

/** An index that is built once per list: worlds keep the identity of lists that did not change. */
function indexOf<T extends KubeObject, I>(build: (objects: readonly T[]) => I): (objects: readonly T[]) => I {
  const indexes = new WeakMap<readonly T[], I>();
  return (objects) => {
    const known = indexes.get(objects);
    if (known !== undefined) return known;
    const index = build(objects);
    indexes.set(objects, index);
    return index;
  };
}

const objectsByName = indexOf((objects: readonly KubeObject[]): Index<KubeObject> => {
  const index = new Map<string, Map<string, KubeObject>>();
  for (const object of objects) {
    namespaceOf(index, object.metadata.namespace ?? "").set(object.metadata.name, object);
  }
  return index;
});

type EndpointSlices = readonly ObjectOf<"EndpointSlice">[];

const serviceNameLabel = "kubernetes.io/service-name";

const slicesByService = indexOf((slices: EndpointSlices): Index<EndpointSlices> => {
  const index = new Map<string, Map<string, ObjectOf<"EndpointSlice">[]>>();
  for (const slice of slices) {
    const service = slice.metadata.labels?.[serviceNameLabel];
    if (service === undefined) continue;
    const services = namespaceOf(index, slice.metadata.namespace);
    const known = services.get(service);
    if (known === undefined) services.set(service, [slice]);
    else known.push(slice);
  }
  return index;
});

function namespaceOf<T>(index: Map<string, Map<string, T>>, namespace: string): Map<string, T> {
  const known = index.get(namespace);
  if (known !== undefined) return known;
  const created = new Map<string, T>();
  index.set(namespace, created);
  return created;
}

const noSlices: EndpointSlices = [];

/** The EndpointSlices of a Service in the order of the world: those whose label `kubernetes.io/service-name` names it. */
export const endpointSlicesOf = (world: World, namespace: string, service: string): EndpointSlices =>
  slicesByService(world.EndpointSlice).get(namespace)?.get(service) ?? noSlices;
