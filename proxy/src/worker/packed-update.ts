import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/**
 * An update on its way to a worker. A body that several resources have, as those of a host that two ports serve alike, is
 * sent once, and is one string at the other end.
 */
export type PackedUpdate = Pick<SnapshotUpdate, "version" | "full" | "removed"> & {
  readonly keys: readonly ResourceKey[];
  /** The place of the body of each key. */
  readonly places: Uint32Array;
  readonly hashes: readonly string[];
  readonly bodies: readonly string[];
};

export function packUpdate({ version, full, resources, removed }: SnapshotUpdate): PackedUpdate {
  const known = new Map<string, number>();
  const places = new Uint32Array(resources.length);
  const hashes: string[] = [];
  const bodies: string[] = [];
  for (const [index, { hash, body }] of resources.entries()) {
    let place = known.get(hash);
    // A hash that is wrong is for the worker to find.
    if (place === undefined || bodies[place] !== body) {
      place = bodies.length;
      known.set(hash, place);
      hashes.push(hash);
      bodies.push(body);
    }
    places[index] = place;
  }
  return { version, full, removed, keys: resources.map(({ key }) => key), places, hashes, bodies };
}

export const unpackUpdate = (packed: PackedUpdate): SnapshotUpdate => ({
  version: packed.version,
  full: packed.full,
  removed: packed.removed,
  resources: packed.keys.map((key, index) => {
    const place = packed.places[index] ?? 0;
    return { key, hash: packed.hashes[place] ?? "", body: packed.bodies[place] ?? "" };
  }),
});
