import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/** What follows an update: `onEnd` comes once, after all resources; without an update when it was abandoned. */
export type UpdateFollower = {
  onResources(resources: readonly Resource[]): void;
  onEnd(update: SnapshotUpdate | undefined): void;
};

/**
 * An update whose resources arrive one part after the other. Its parts may be read while others are under way; nothing of it is
 * applied before it is complete.
 */
export class IncomingUpdate {
  readonly version: string;
  readonly full: boolean;
  /** The update when its last part has arrived; undefined when it was abandoned. */
  readonly whole: Promise<SnapshotUpdate | undefined>;
  private readonly resources: Resource[] = [];
  private readonly followers: UpdateFollower[] = [];
  private readonly settled: (update: SnapshotUpdate | undefined) => void;
  private ended: { readonly update: SnapshotUpdate | undefined } | undefined;

  constructor({ version, full }: Pick<SnapshotUpdate, "version" | "full">) {
    this.version = version;
    this.full = full;
    const { promise, resolve } = Promise.withResolvers<SnapshotUpdate | undefined>();
    this.whole = promise;
    this.settled = resolve;
  }

  /** An update that has arrived. */
  static of(update: SnapshotUpdate): IncomingUpdate {
    const incoming = new IncomingUpdate(update);
    incoming.add(update.resources);
    incoming.complete(update.removed);
    return incoming;
  }

  /** The update, where its last part has arrived. */
  get arrived(): SnapshotUpdate | undefined {
    return this.ended?.update;
  }

  add(resources: readonly Resource[]): void {
    for (const resource of resources) this.resources.push(resource);
    for (const follower of this.followers) follower.onResources(resources);
  }

  /** The last part has arrived. */
  complete(removed: readonly ResourceKey[]): void {
    const { version, full, resources } = this;
    this.end({ version, full, resources, removed });
  }

  /** No further part will arrive; harmless when the update is complete. */
  abandon(): void {
    if (this.ended === undefined) this.end(undefined);
  }

  /** Calls a follower with what has arrived, at once, and with what arrives later. */
  follow(follower: UpdateFollower): void {
    if (this.resources.length > 0) follower.onResources(this.resources);
    if (this.ended !== undefined) follower.onEnd(this.ended.update);
    else this.followers.push(follower);
  }

  private end(update: SnapshotUpdate | undefined): void {
    this.ended = { update };
    for (const follower of this.followers) follower.onEnd(update);
    this.settled(update);
  }
}
