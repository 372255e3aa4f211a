import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshotBuilder } from "@svc-gateway/common/ir/snapshot-builder.ts";
import {
  diffSnapshots,
  fullUpdate,
  type Snapshot,
  type SnapshotUpdate,
} from "@svc-gateway/common/ir/snapshot.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";

/** Hands snapshots to a proxy of the same process, as the smallest update from what it serves already. */
export type Publisher<Applied> = {
  /** The result of the update, or undefined when nothing changed. */
  publish(resources: readonly Resource[]): Promise<Result<Applied> | undefined>;
};

/** `apply` is atomic; after a rejected update the next one starts from the last applied snapshot. */
export function createPublisher<Applied>(
  apply: (update: SnapshotUpdate) => Result<Applied> | Promise<Result<Applied>>,
): Publisher<Applied> {
  const build = createSnapshotBuilder();
  let applied: Snapshot | undefined;
  return {
    async publish(resources) {
      const next = build(resources);
      if (next.version === applied?.version) return undefined;
      const result = await apply(applied === undefined ? fullUpdate(next) : diffSnapshots(applied, next));
      if (result.ok) applied = next;
      return result;
    },
  };
}
