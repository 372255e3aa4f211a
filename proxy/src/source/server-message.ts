import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { Snapshot } from "@svc-gateway/proto/generated/discovery.js";

/** An update with the nonce under which it is acknowledged. */
export type ReceivedUpdate = { readonly update: SnapshotUpdate; readonly nonce: Uint8Array };

/**
 * Reads a snapshot message. Equal bodies, as those of a host that two ports serve alike, become one text. Whether hashes and
 * version are right is for the receiver of the update to check; a body that is not UTF-8 cannot have the right hash.
 */
export function readUpdate(bytes: Uint8Array): Result<ReceivedUpdate> {
  let message: Snapshot;
  try {
    message = Snapshot.deserialize(bytes);
  } catch {
    return problem("the snapshot message cannot be read");
  }
  const { version, nonce, full, resources, removed } = message;
  const textOf = createTextReader();
  return ok({
    nonce,
    update: {
      version,
      full,
      resources: resources.map(({ key, hash, body }) => ({
        key: key as ResourceKey,
        hash,
        body: textOf(hash, body),
      })),
      removed: removed as ResourceKey[],
    },
  });
}

/** Reads bodies; one that has the hash and the bytes of an earlier one is not read again. */
function createTextReader(): (hash: string, body: Uint8Array) => string {
  const known = new Map<string, { readonly body: Uint8Array; readonly text: string }>();
  return (hash, body) => {
    const same = known.get(hash);
    if (same !== undefined && Buffer.compare(same.body, body) === 0) return same.text;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
    known.set(hash, { body, text });
    return text;
  };
}
