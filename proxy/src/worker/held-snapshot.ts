import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import {
  changeVersionLines,
  noVersionLines,
  versionOf,
  type VersionLines,
} from "@svc-gateway/common/ir/version-lines.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { changedHashes } from "../state/changed-hashes.ts";
import { atOnce } from "../timing/steps.ts";

/** An update that was verified to lead from the held snapshot to the version that it announces. */
export type CheckedUpdate = { readonly update: SnapshotUpdate; readonly lines: VersionLines };

/**
 * The resources that all workers serve, kept for workers that start later, and the lines that their version is computed
 * from.
 */
export class HeldSnapshot {
  private readonly resources = new Map<ResourceKey, Resource>();
  private lines = noVersionLines;
  private version: string | undefined;

  /** Whether no update has been applied yet. */
  get isEmpty(): boolean {
    return this.version === undefined;
  }

  /**
   * Verifies that an update leads to the version that it announces. Fails if not: the update was made for another
   * snapshot, or is incomplete. Changes nothing.
   */
  check(update: SnapshotUpdate): Result<CheckedUpdate> {
    const lines = changeVersionLines(
      this.lines,
      atOnce(changedHashes(this.resources, ({ hash }) => hash, update)),
    );
    const version = versionOf(lines);
    return version === update.version
      ? ok({ update, lines })
      : problem(`snapshot ${update.version}: its content has version ${version}`);
  }

  /** Applies an update that the workers have applied. No other update may have been applied since it was checked. */
  apply({ update: { version, full, resources, removed }, lines }: CheckedUpdate): void {
    if (full) this.resources.clear();
    for (const key of removed) this.resources.delete(key);
    for (const resource of resources) this.resources.set(resource.key, resource);
    this.lines = lines;
    this.version = version;
  }

  /** The whole snapshot as an update; undefined before the first update. */
  asUpdate(): SnapshotUpdate | undefined {
    const { version, resources } = this;
    if (version === undefined) return undefined;
    return { version, full: true, resources: [...resources.values()], removed: [] };
  }
}
