import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { IncomingUpdate } from "../state/incoming-update.ts";
import { UpdatePacker, type UpdatePart } from "../state/update-part.ts";

/** The last message of an update: everything that the preceding parts do not contain. */
export type PackedUpdate = Pick<SnapshotUpdate, "version" | "full" | "removed"> & UpdatePart;

/**
 * The maximum length of one message to a worker, except for a single longer body: some hundred routes. Requests wait
 * while a worker reads a message, at this length for some milliseconds. A worker also holds two copies of a message
 * meanwhile, and a snapshot can be too large to be held several times.
 */
export const maxPartLength = 64 * 1024;

/** The messages of an update, which each worker reads at its own pace. Most updates are one message. */
export class PackedMessages {
  private readonly parts: UpdatePart[] = [];
  private last: PackedUpdate | undefined;
  private isEnded = false;
  private waiting: (() => void)[] = [];

  /** The part with this index, once it is complete; undefined after the last part, when `end` is known. */
  async part(index: number): Promise<UpdatePart | undefined> {
    while (index >= this.parts.length && !this.isEnded) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return this.parts[index];
  }

  /** The last message, known once `part` has returned undefined; itself undefined if the update was abandoned. */
  get end(): PackedUpdate | undefined {
    return this.last;
  }

  add(part: UpdatePart): void {
    this.parts.push(part);
    this.wake();
  }

  close(last: PackedUpdate | undefined): void {
    this.last = last;
    this.isEnded = true;
    this.wake();
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Packs an update that has arrived completely. Each message has all keys of its bodies. */
export function packUpdate(
  { version, full, resources, removed }: SnapshotUpdate,
  maxLength: number = maxPartLength,
): PackedMessages {
  const messages = new PackedMessages();
  const packer = new UpdatePacker(maxLength, (part) => messages.add(part));
  packer.add(byHash(resources));
  messages.close({ version, full, removed, ...packer.close() });
  return messages;
}

/** Packs an update while it arrives, so that workers read its first parts before the last one has arrived. */
export function packIncoming(update: IncomingUpdate, maxLength: number = maxPartLength): PackedMessages {
  const messages = new PackedMessages();
  const packer = new UpdatePacker(maxLength, (part) => messages.add(part));
  update.follow({
    onResources: (resources) => packer.add(resources),
    onEnd: (whole) =>
      messages.close(
        whole && { version: whole.version, full: whole.full, removed: whole.removed, ...packer.close() },
      ),
  });
  return messages;
}

/** Groups resources by hash; of two resources with the same key, only the later one is kept. */
function* byHash(resources: readonly Resource[]): Iterable<Resource> {
  const latest = new Map<ResourceKey, Resource>();
  for (const resource of resources) latest.set(resource.key, resource);
  const groups = new Map<string, Resource[]>();
  for (const resource of latest.values()) {
    const group = groups.get(resource.hash);
    if (group === undefined) groups.set(resource.hash, [resource]);
    else group.push(resource);
  }
  for (const group of groups.values()) yield* group;
}
