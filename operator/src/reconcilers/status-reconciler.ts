import { nameOf, refOf, type KubeObject } from "../api/object.ts";
import type { KindName } from "../api/kinds.ts";
import type { StatusChange } from "../runtime/status-writer.ts";
import type { Build } from "../runtime/table-builder.ts";
import { haveSameItems } from "../translate/memo.ts";
import { createLookup } from "../world.ts";
import type { Reconciler } from "./reconciler.ts";

/** What the status of one object should say. Two builds that want the same should give the same `change`. */
export type DesiredStatus = { readonly object: KubeObject; readonly change: StatusChange };

export type StatusReconcilerOptions = {
  readonly kind: KindName;
  /**
   * The statuses that a build asks for, by `namespace/name`. Give the same map as long as nothing in it changes: then
   * nothing is compared.
   */
  readonly statuses: (build: Build) => ReadonlyMap<string, DesiredStatus>;
  /** What to do with an object that was ours in the previous build and is not any more. */
  readonly release: (build: Build) => StatusChange;
};

/** A reconciler of a kind of which we write nothing but the status. */
export function statusReconciler({ kind, statuses, release }: StatusReconcilerOptions): Reconciler {
  const desiredFor = (name: string, build: Build): DesiredStatus | undefined => {
    const desired = statuses(build).get(name);
    if (desired !== undefined) return desired;
    const [namespace, rest] = name.includes("/") ? splitOnce(name) : ["", name];
    const object = createLookup(build.world)(kind, namespace, rest);
    return object === undefined ? undefined : { object, change: release(build) };
  };

  return {
    controller: kind.toLowerCase(),
    kind,
    dirty(previous, next) {
      const before = previous === undefined ? noStatuses : statuses(previous);
      const after = statuses(next);
      return before === after ? [] : differences(before, after);
    },
    async reconcile(name, { build, statuses: writer, signal }) {
      const desired = desiredFor(name, build);
      if (desired === undefined) return { ok: true, value: "gone" };
      const { object, change } = desired;
      return writer.write({ kind, name, uid: object.metadata.uid, change }, signal);
    },
  };
}

/** The map of objects that all get the same change, remembered for as long as both are the same. */
export function uniformStatuses(): (
  objects: readonly KubeObject[],
  change: StatusChange,
) => ReadonlyMap<string, DesiredStatus> {
  type Known = {
    readonly objects: readonly KubeObject[];
    readonly change: StatusChange;
    readonly map: ReadonlyMap<string, DesiredStatus>;
  };
  let last: Known | undefined;
  return (objects, change) => {
    if (last?.change === change && haveSameItems(last.objects, objects)) return last.map;
    const map = new Map(objects.map((object) => [nameOf(refOf(object)), { object, change }]));
    last = { objects, change, map };
    return map;
  };
}

function* differences(
  before: ReadonlyMap<string, DesiredStatus>,
  after: ReadonlyMap<string, DesiredStatus>,
): Iterable<string> {
  for (const [name, { object, change }] of after) {
    const known = before.get(name);
    if (known?.object !== object || known.change !== change) yield name;
  }
  for (const name of before.keys()) if (!after.has(name)) yield name;
}

const noStatuses: ReadonlyMap<string, DesiredStatus> = new Map();

function splitOnce(name: string): readonly [string, string] {
  const slash = name.indexOf("/");
  return [name.slice(0, slash), name.slice(slash + 1)];
}
