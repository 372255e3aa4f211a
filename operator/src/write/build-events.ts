import { kindNames, type KindName } from "../api/kinds.ts";
import type { KubeObject } from "../api/object.ts";
import type { Build } from "../build/table-builder.ts";
import type { DesiredEvent } from "../translate/finding.ts";
import { createLookup } from "../world.ts";
import { createEventCap } from "./event-cap.ts";
import type { ObjectEvent } from "./event-object.ts";

/**
 * Returns the Events that a build requires, about the present objects. A repeated Event about the same object is the
 * same value as before.
 */
export function createBuildEvents(): (build: Build) => readonly ObjectEvent[] {
  const known = new WeakMap<DesiredEvent, ObjectEvent>();
  const cap = createEventCap();
  return ({ world, translation }) => {
    const lookup = createLookup(world);
    const events = translation.events.flatMap((event) => {
      const { kind, namespace = "", name } = event.object;
      const object = isKnownKind(kind) ? lookup(kind, namespace, name) : undefined;
      if (object === undefined) return [];
      const before = known.get(event);
      if (before !== undefined && before.regarding.uid === object.metadata.uid) return [before];
      const next = toObjectEvent(event, object);
      known.set(event, next);
      return [next];
    });
    return cap(events);
  };
}

const isKnownKind = (kind: string): kind is KindName => kindNames.includes(kind as KindName);

const toObjectEvent = ({ type, reason, message }: DesiredEvent, object: KubeObject): ObjectEvent => {
  const { apiVersion, kind, metadata } = object;
  const { namespace, name, uid } = metadata;
  const regarding = {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  };
  return { regarding, type, reason, message };
};
