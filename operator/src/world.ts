/**
 * Everything that the gateway knows about the cluster at one moment, typed and immutable. Sources build worlds; the
 * translation only reads them. A list whose objects did not change keeps its identity from one world to the next, so
 * that results derived from it can be kept as well (docs/architecture.md, "Level, not event").
 */
import type { KubeObject } from "./api/object.ts";
import { kindNames, kindOf, type KindName, type ObjectOf } from "./api/kinds.ts";
import { objectsByName, objectsByService, serviceNameLabel, type Edit } from "./world-index.ts";

/** All objects by kind; each list is sorted by namespace, then name, and has no name twice. */
export type World = { readonly [K in KindName]: readonly ObjectOf<K>[] };

/** One object that was added, changed or removed. */
export type WorldChange =
  | { readonly type: "apply"; readonly object: KubeObject }
  | { readonly type: "delete"; readonly kind: KindName; readonly namespace?: string; readonly name: string };

export const emptyWorld: World = Object.fromEntries(kindNames.map((kind) => [kind, []])) as unknown as World;

/**
 * Creates the world with exactly these objects. They must have passed validation (operator/src/api/validate.ts, or an
 * API server). Of two objects with one name the later wins; objects of kinds that this gateway does not read are
 * omitted.
 */
export function createWorld(objects: Iterable<KubeObject>): World {
  const changes: WorldChange[] = [];
  for (const object of objects) changes.push({ type: "apply", object });
  return updateWorld(emptyWorld, changes);
}

/**
 * Returns the world after these changes, applied in order. The lists of other kinds, and lists that the changes do not
 * affect, keep their identity. Costs one pass over each changed list, however many changes there are.
 */
export function updateWorld(world: World, changes: Iterable<WorldChange>): World {
  const changed: Record<string, readonly KubeObject[]> = {};
  for (const [kind, wishes] of groupByKind(changes)) {
    const before: readonly KubeObject[] = world[kind];
    const { after, edits } = apply(before, wishes);
    if (edits.length === 0) continue;
    changed[kind] = after;
    objectsByName.carry(before, after, edits);
    objectsByService.carry(before, after, edits);
  }
  // `groupByKind` assigns every object to the kind that its apiVersion and kind name.
  return Object.keys(changed).length === 0 ? world : ({ ...world, ...changed } as World);
}

type Key = { readonly namespace: string; readonly name: string };

/** An object to store under a name, or undefined to remove the present one. */
type Wish = Key & { readonly object: KubeObject | undefined };

function groupByKind(changes: Iterable<WorldChange>): ReadonlyMap<KindName, Wish[]> {
  const groups = new Map<KindName, Wish[]>();
  for (const change of changes) {
    const kind =
      change.type === "delete" ? change.kind : kindOf(change.object.apiVersion, change.object.kind);
    if (kind === undefined) continue;
    const wish =
      change.type === "delete"
        ? { namespace: change.namespace ?? "", name: change.name, object: undefined }
        : { ...keyOf(change.object), object: change.object };
    const wishes = groups.get(kind);
    if (wishes === undefined) groups.set(kind, [wish]);
    else wishes.push(wish);
  }
  return groups;
}

/** Merges the wishes into the sorted list. A wish that is already fulfilled is not an edit. */
function apply(
  before: readonly KubeObject[],
  wishes: readonly Wish[],
): { readonly after: readonly KubeObject[]; readonly edits: readonly Edit[] } {
  const ordered = [...wishes].sort(compareKeys); // stable: the last of several wishes for one name stays last
  const after: KubeObject[] = [];
  const edits: Edit[] = [];
  let at = 0;
  for (const [index, wish] of ordered.entries()) {
    const next = ordered[index + 1];
    if (next !== undefined && compareKeys(wish, next) === 0) continue;
    let current = before[at];
    while (current !== undefined && compareKeys(keyOf(current), wish) < 0) {
      after.push(current);
      current = before[++at];
    }
    const replaced = current !== undefined && compareKeys(keyOf(current), wish) === 0 ? current : undefined;
    if (replaced !== undefined) at++;
    if (replaced !== wish.object) edits.push({ before: replaced, after: wish.object });
    if (wish.object !== undefined) after.push(wish.object);
  }
  for (; at < before.length; at++) after.push(before[at] as KubeObject);
  return { after, edits };
}

const keyOf = ({ metadata }: KubeObject): Key => ({
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});

const compareKeys = (a: Key, b: Key): number =>
  compareText(a.namespace, b.namespace) || compareText(a.name, b.name);

/** Compares texts in the order of listings: by UTF-16 code units, the same on every machine. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Finds the object of a kind by namespace (empty for cluster-scoped kinds) and name. */
export type Lookup = <K extends KindName>(
  kind: K,
  namespace: string,
  name: string,
) => ObjectOf<K> | undefined;

/** The lookup of one world. */
export function createLookup(world: World): Lookup {
  return <K extends KindName>(kind: K, namespace: string, name: string) =>
    // The index of the list of kind K holds objects of kind K.
    objectsByName.of(world[kind]).get(namespace)?.get(name) as ObjectOf<K> | undefined;
}

/** The objects of a kind in one namespace, in no particular order. */
export function objectsIn<K extends KindName>(
  world: World,
  kind: K,
  namespace: string,
): Iterable<ObjectOf<K>> {
  // The index of the list of kind K holds objects of kind K.
  return (objectsByName.of(world[kind]).get(namespace)?.values() ?? []) as Iterable<ObjectOf<K>>;
}

type EndpointSlices = readonly ObjectOf<"EndpointSlice">[];

const noSlices: EndpointSlices = [];

/** The EndpointSlices of a Service by name: those whose label `kubernetes.io/service-name` names it. */
export const endpointSlicesOf = (world: World, namespace: string, service: string): EndpointSlices =>
  // The index of the list of EndpointSlices holds EndpointSlices.
  (objectsByService.of(world.EndpointSlice).get(namespace)?.get(service) as EndpointSlices | undefined) ??
  noSlices;

/** The name of the Service that an EndpointSlice belongs to. */
export const serviceOfSlice = ({ metadata }: ObjectOf<"EndpointSlice">): string | undefined =>
  metadata.labels?.[serviceNameLabel];
