import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/**
 * Resources in a message to a worker. A body that several resources have, as those of a host that two ports serve
 * alike, is sent once, and is one string in the worker.
 */
export type PackedPart = {
  readonly keys: readonly ResourceKey[];
  /** The index in `bodies` of the body of each key. */
  readonly places: Uint32Array;
  readonly hashes: readonly string[];
  readonly bodies: readonly string[];
};

/** The end of an update: everything that is not in the parts before. */
export type PackedUpdate = Pick<SnapshotUpdate, "version" | "full" | "removed"> & PackedPart;

/** An update in the messages to a worker; for most updates it is one. */
export type PackedMessages = { readonly parts: readonly PackedPart[]; readonly end: PackedUpdate };

/**
 * The most text in one message to a worker, except for one body, so that requests wait for some milliseconds at most while it
 * is read: some hundred routes. Each worker holds two copies of a message meanwhile, too, and a snapshot may be too large to be
 * held several times.
 */
export const maxPartLength = 128 * 1024;

export function packUpdate(
  { version, full, resources, removed }: SnapshotUpdate,
  maxLength: number = maxPartLength,
): PackedMessages {
  const parts: {
    keys: ResourceKey[];
    hashes: string[];
    bodies: string[];
    places: number[];
    length: number;
  }[] = [];
  type Place = { readonly part: (typeof parts)[number]; readonly place: number };
  const known = new Map<string, Place>();
  /** Keeps the later of two resources with one key, because the parts of an update have no order. */
  for (const { key, hash, body } of new Map(resources.map((resource) => [resource.key, resource])).values()) {
    let found = known.get(hash);
    // The worker checks the hashes.
    if (found === undefined || found.part.bodies[found.place] !== body) {
      let part = parts.at(-1);
      if (part === undefined || (part.length > 0 && part.length + body.length > maxLength)) {
        part = { keys: [], hashes: [], bodies: [], places: [], length: 0 };
        parts.push(part);
      }
      found = { part, place: part.bodies.length };
      known.set(hash, found);
      part.hashes.push(hash);
      part.bodies.push(body);
      part.length += body.length;
    }
    found.part.keys.push(key);
    found.part.places.push(found.place);
  }
  const packed = parts.map(({ keys, hashes, bodies, places }): PackedPart => ({
    keys,
    hashes,
    bodies,
    places: Uint32Array.from(places),
  }));
  const last = packed.pop() ?? { keys: [], hashes: [], bodies: [], places: new Uint32Array() };
  return { parts: packed, end: { version, full, removed, ...last } };
}

export const unpackResources = ({ keys, places, hashes, bodies }: PackedPart): readonly Resource[] =>
  keys.map((key, index) => {
    const place = places[index] ?? 0;
    return { key, hash: hashes[place] ?? "", body: bodies[place] ?? "" };
  });

export const unpackUpdate = (packed: PackedUpdate): SnapshotUpdate => ({
  version: packed.version,
  full: packed.full,
  removed: packed.removed,
  resources: unpackResources(packed),
});
