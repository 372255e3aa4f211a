import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshotBuilder } from "@svc-gateway/common/ir/snapshot-builder.ts";
import {
  diffSnapshots,
  fullUpdate,
  type Snapshot,
  type SnapshotUpdate,
} from "@svc-gateway/common/ir/snapshot.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";

/** Passes snapshots to a proxy of the same process, as the smallest update from the snapshot that it serves. */
export type Publisher<Applied> = {
  /** Applies a snapshot. Resolves to the result of the update, or to undefined when nothing changed. */
  publish(resources: readonly Resource[]): Promise<Result<Applied> | undefined>;
};

/** Creates a publisher. `apply` must be atomic: after a rejection, updates start from the last applied snapshot. */
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
