import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/**
 * Callbacks for an arriving update. `onEnd` is called once, after all resources; with undefined if it was abandoned.
 */
export type UpdateFollower = {
  onResources(resources: readonly Resource[]): void;
  onEnd(update: SnapshotUpdate | undefined): void;
};

/**
 * An update whose resources arrive in parts. Parts can be read before the following ones arrive, but no part is applied
 * before the update is complete.
 */
export class IncomingUpdate {
  readonly version: string;
  readonly full: boolean;
  /** Resolves to the update when its last part has arrived, or to undefined if it was abandoned. */
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

  /** Creates an update that has arrived completely. */
  static of(update: SnapshotUpdate): IncomingUpdate {
    const incoming = new IncomingUpdate(update);
    incoming.add(update.resources);
    incoming.complete(update.removed);
    return incoming;
  }

  /** The update, if its last part has arrived. */
  get arrived(): SnapshotUpdate | undefined {
    return this.ended?.update;
  }

  add(resources: readonly Resource[]): void {
    for (const resource of resources) this.resources.push(resource);
    for (const follower of this.followers) follower.onResources(resources);
  }

  /** Completes the update, because its last part has arrived. */
  complete(removed: readonly ResourceKey[]): void {
    const { version, full, resources } = this;
    this.end({ version, full, resources, removed });
  }

  /** Abandons the update, because no further part will arrive; has no effect if it is complete. */
  abandon(): void {
    if (this.ended === undefined) this.end(undefined);
  }

  /** Calls a follower immediately with the resources that have arrived, and with others when they arrive. */
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
