import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/** The resources that all workers serve, kept for those that start later. */
export class HeldSnapshot {
  private readonly resources = new Map<ResourceKey, Resource>();
  private version: string | undefined;

  /** Takes an update that the workers have applied. */
  apply({ version, full, resources, removed }: SnapshotUpdate): void {
    if (full) this.resources.clear();
    for (const key of removed) this.resources.delete(key);
    for (const resource of resources) this.resources.set(resource.key, resource);
    this.version = version;
  }

  /** Everything, or undefined before the first update. */
  asUpdate(): SnapshotUpdate | undefined {
    const { version, resources } = this;
    if (version === undefined) return undefined;
    return { version, full: true, resources: [...resources.values()], removed: [] };
  }
}
