import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { ok } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import type { Build } from "../build/table-builder.ts";
import { createLookup } from "../world.ts";
import type { StatusChange } from "../write/status-writer.ts";
import type { Reconciler } from "./reconciler.ts";

/** What the status of one object should say. */
export type DesiredStatus = { readonly object: KubeObject; readonly change: StatusChange };

export type StatusReconcilerOptions = {
  readonly kind: KindName;
  /**
   * The statuses that a build asks for. What stays the same from one build to the next must be the same value: only other
   * values are looked at. The same list as before costs nothing at all.
   */
  readonly statuses: (build: Build) => readonly DesiredStatus[];
  /** What to do with an object that was ours in the previous build and is not any more. */
  readonly release: (build: Build) => StatusChange;
};

/** A reconciler of a kind of which we write nothing but the status. */
export const statusReconciler = ({ kind, statuses, release }: StatusReconcilerOptions): Reconciler =>
  reconcilerOf(kind, {
    dirty(previous, next) {
      const before = previous === undefined ? noStatuses : statuses(previous);
      const after = statuses(next);
      return before === after ? [] : differences(before, after);
    },
    changeOf: (object, build) => indexOf(statuses(build)).get(object)?.change ?? release(build),
  });

export type UniformStatusOptions = {
  readonly kind: KindName;
  /** The objects that get the status: the same list while nothing changes. */
  readonly objects: (build: Build) => readonly KubeObject[];
  /** The status input of all of them: the same value while nothing changes. */
  readonly change: (build: Build) => StatusChange;
  readonly release: (build: Build) => StatusChange;
};

/** The same where all objects get the same status: a change of one of many costs no list and no index of all. */
export const uniformStatusReconciler = ({
  kind,
  objects,
  change,
  release,
}: UniformStatusOptions): Reconciler =>
  reconcilerOf(kind, {
    dirty(previous, next) {
      const before = previous === undefined ? [] : objects(previous);
      const after = objects(next);
      const { removed, added } = listChanges(before, after);
      const isSame = previous !== undefined && change(previous) === change(next);
      return namesOf([...removed, ...(isSame ? added : after)]);
    },
    changeOf: (object, build) => (objects(build).includes(object) ? change(build) : release(build)),
  });

function reconcilerOf(
  kind: KindName,
  {
    dirty,
    changeOf,
  }: Pick<Reconciler, "dirty"> & {
    readonly changeOf: (object: KubeObject, build: Build) => StatusChange;
  },
): Reconciler {
  return {
    controller: kind.toLowerCase(),
    kind,
    dirty,
    async reconcile(name, { build, statuses: writer, signal }) {
      const object = findObject(build, kind, name);
      if (object === undefined) return ok("gone");
      const change = changeOf(object, build);
      return writer.write({ kind, name, uid: object.metadata.uid, change }, signal);
    },
  };
}

function findObject({ world }: Build, kind: KindName, name: string): KubeObject | undefined {
  const [namespace = "", objectName] = name.split("/");
  const lookup = createLookup(world);
  return objectName === undefined ? lookup(kind, "", name) : lookup(kind, namespace, objectName);
}

const namesOf = (objects: readonly KubeObject[]): ReadonlySet<string> =>
  new Set(objects.map((object) => nameOf(refOf(object))));

/** By object: built once for each list. */
const indexes = new WeakMap<readonly DesiredStatus[], ReadonlyMap<KubeObject, DesiredStatus>>();

function indexOf(list: readonly DesiredStatus[]): ReadonlyMap<KubeObject, DesiredStatus> {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const index = new Map(list.map((status) => [status.object, status]));
  indexes.set(list, index);
  return index;
}

/** Names of the objects whose status is another one in the two lists. */
function differences(before: readonly DesiredStatus[], after: readonly DesiredStatus[]): ReadonlySet<string> {
  const { removed, added } = listChanges(before, after);
  return namesOf([...added, ...removed].map(({ object }) => object));
}

const noStatuses: readonly DesiredStatus[] = [];
