import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";

/**
 * A part of the resources of an update, with each body once. The bodies are numbered through all parts, so that a key
 * can refer to the body of an earlier part: a host that two ports serve alike is one value in a worker. Parts are read
 * in order. Of two resources with the same key, the later one counts.
 */
export type UpdatePart = {
  readonly keys: readonly ResourceKey[];
  /** The number of the body of each key. */
  readonly places: Uint32Array;
  /** The number of the first of `bodies`. */
  readonly first: number;
  readonly hashes: readonly string[];
  readonly bodies: readonly string[];
};

type OpenPart = {
  readonly keys: ResourceKey[];
  readonly places: number[];
  readonly first: number;
  readonly hashes: string[];
  readonly bodies: string[];
  length: number;
};

/** Packs the resources of one update, in the order in which they are added. */
export class UpdatePacker {
  private readonly maxLength: number;
  private readonly onPart: (part: UpdatePart) => void;
  /** The latest packed body of each hash, with its key and its number. */
  private readonly known = new Map<string, { key: ResourceKey; body: string; place: number }>();
  private open: OpenPart = openPart(0);

  /** `onPart` is called with each part that is complete because the next body would make it longer than `maxLength`. */
  constructor(maxLength: number, onPart: (part: UpdatePart) => void) {
    this.maxLength = maxLength;
    this.onPart = onPart;
  }

  add(resources: Iterable<Resource>): void {
    for (const { key, hash, body } of resources) {
      const found = this.known.get(hash);
      // Bodies are compared because hashes are not verified here, and types because each type is decoded differently.
      const isKnown = found !== undefined && found.body === body && isOneType(found.key, key);
      const place = isKnown ? found.place : this.addBody(hash, body);
      if (!isKnown) this.known.set(hash, { key, body, place });
      this.open.keys.push(key);
      this.open.places.push(place);
    }
  }

  /** Ends the update; returns its last part, which can be empty. */
  close(): UpdatePart {
    return closePart(this.open);
  }

  private addBody(hash: string, body: string): number {
    const { bodies, length } = this.open;
    if (length > 0 && length + body.length > this.maxLength) {
      this.onPart(closePart(this.open));
      this.open = openPart(this.open.first + bodies.length);
    }
    this.open.hashes.push(hash);
    this.open.length += body.length;
    return this.open.first + this.open.bodies.push(body) - 1;
  }
}

/** Packs resources into one part. */
export function partOf(resources: Iterable<Resource>): UpdatePart {
  const packer = new UpdatePacker(Infinity, () => {});
  packer.add(resources);
  return packer.close();
}

const openPart = (first: number): OpenPart => ({
  keys: [],
  places: [],
  first,
  hashes: [],
  bodies: [],
  length: 0,
});

const closePart = ({ keys, places, first, hashes, bodies }: OpenPart): UpdatePart => ({
  keys,
  places: Uint32Array.from(places),
  first,
  hashes,
  bodies,
});

/** Whether the bodies of two keys have one schema. The type is the text before the first bar, except in `config|…`. */
function isOneType(one: ResourceKey, other: ResourceKey): boolean {
  if (one === other) return true;
  const end = one.indexOf("|") + 1;
  return end > 0 && !one.startsWith("config|") && other.startsWith(one.slice(0, end));
}
