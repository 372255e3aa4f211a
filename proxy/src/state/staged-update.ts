import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { createDecoder, type Decoded, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { changedHashes, type Offered } from "./changed-hashes.ts";
import { forEachInSteps, type Steps } from "./steps.ts";

/** An update that was checked but has not changed anything yet. */
export type StagedUpdate = {
  /** The differences to the current snapshot: the new hash, or undefined for a removed resource. */
  readonly hashes: ReadonlyMap<ResourceKey, string | undefined>;
  /** The new and changed resources of known kinds. */
  readonly values: readonly Decoded[];
};

/**
 * Works out what an update changes and checks it: each new or changed resource must have the announced hash and fit its
 * schema. Resources whose hash is known are not read again, those of unknown kinds are ignored
 * (docs/adr/0003-snapshots-are-keyed-resources.md). The version of the whole update is checked once for all workers
 * (docs/adr/0013-workers.md, "Updates"). The resources may arrive part by part: the decoded values of each part are kept,
 * not its text. `present` does not change before the end.
 */
export class UpdateReader {
  private readonly present: ReadonlyMap<ResourceKey, string>;
  /** Of two resources with one key the later counts. */
  private readonly offered = new Map<ResourceKey, Offered>();
  private readonly read = new Map<ResourceKey, Result<Decoded | undefined>>();

  constructor(present: ReadonlyMap<ResourceKey, string>) {
    this.present = present;
  }

  take(resources: readonly Resource[]): void {
    const last = new Map(resources.map((resource) => [resource.key, resource]));
    const decode = createDecoder();
    for (const [key, resource] of last) {
      const { hash } = resource;
      this.offered.set(key, { key, hash });
      if (this.present.get(key) === hash) this.read.delete(key);
      else this.read.set(key, decode(resource));
    }
  }

  *finish({ full, removed }: Pick<SnapshotUpdate, "full" | "removed">): Steps<Result<StagedUpdate>> {
    const resources = this.offered.values();
    const hashes = yield* changedHashes(this.present, (hash) => hash, { full, removed, resources });
    const values: Decoded[] = [];
    let refused: Result<never> | undefined;
    yield* forEachInSteps(hashes, ([key, hash]) => {
      const decoded = hash === undefined ? undefined : this.read.get(key);
      if (decoded === undefined) return;
      if (!decoded.ok) refused ??= decoded;
      else if (decoded.value !== undefined) values.push(decoded.value);
    });
    return refused ?? ok({ hashes, values });
  }
}
