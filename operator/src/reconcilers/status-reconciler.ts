import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { ok } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import type { Build } from "../build/table-builder.ts";
import { createLookup } from "../world.ts";
import type { StatusChange } from "../write/status-writer.ts";
import type { Reconciler } from "./reconciler.ts";

/** A reconciler that writes the statuses of one kind. */
export type StatusReconciler = Reconciler & { readonly kind: KindName };

/** The desired status of one object. */
export type DesiredStatus = { readonly object: KubeObject; readonly change: StatusChange };

export type StatusReconcilerOptions = {
  readonly kind: KindName;
  /**
   * The desired statuses of a build. A status that is unchanged since the previous build must be the same value,
   * because only other values are reconciled. The same list as before costs nothing.
   */
  readonly statuses: (build: Build) => readonly DesiredStatus[];
  /** The change for an object that was ours in the previous build and no longer is. */
  readonly release: (build: Build) => StatusChange;
};

/** Creates a reconciler that writes only the status of a kind. */
export const statusReconciler = ({ kind, statuses, release }: StatusReconcilerOptions): StatusReconciler =>
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
  /** The objects that get the status; the same list while nothing changes. */
  readonly objects: (build: Build) => readonly KubeObject[];
  /** The change for all of these objects; the same value while nothing changes. */
  readonly change: (build: Build) => StatusChange;
  readonly release: (build: Build) => StatusChange;
};

/**
 * Creates a status reconciler for a kind whose objects all get the same status. A change of one of many objects
 * requires no list and no index of all.
 */
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
): StatusReconciler {
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

/** The statuses of each list by object, indexed once. */
const indexes = new WeakMap<readonly DesiredStatus[], ReadonlyMap<KubeObject, DesiredStatus>>();

function indexOf(list: readonly DesiredStatus[]): ReadonlyMap<KubeObject, DesiredStatus> {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const index = new Map(list.map((status) => [status.object, status]));
  indexes.set(list, index);
  return index;
}

/** The names of the objects whose statuses differ between the two lists. */
function differences(before: readonly DesiredStatus[], after: readonly DesiredStatus[]): ReadonlySet<string> {
  const { removed, added } = listChanges(before, after);
  return namesOf([...added, ...removed].map(({ object }) => object));
}

const noStatuses: readonly DesiredStatus[] = [];
