import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { readSnapshot, type SnapshotMessage } from "@svc-gateway/proto/snapshot-message.ts";
import { maxUpdateBytes } from "@svc-gateway/proto/wire.ts";

/** An update with the nonce under which it is acknowledged. */
export type ReceivedUpdate = { readonly update: SnapshotUpdate; readonly nonce: Uint8Array };

/** The parts of an update that have arrived. */
type PendingUpdate = Pick<SnapshotMessage, "version" | "full"> & {
  readonly nonce: Uint8Array;
  readonly resources: Resource[];
  readonly removed: ResourceKey[];
  readonly shared: (hash: string, text: string) => string;
  bytes: number;
  /** The resource whose body continues in the next part. */
  open: { readonly key: string; readonly hash: string; body: string } | undefined;
};

/**
 * Assembles updates from the snapshot messages of one stream, most of which are a whole update. Returns undefined while
 * parts are missing. Equal bodies, as those of a host that two ports serve alike, become one string. The receiver of
 * the update checks hashes and version; a body that is not UTF-8 cannot have the right hash. Fails for a message that
 * cannot be decoded, a part of another update than the one that has begun, or an update of more than `maxBytes`. See
 * docs/discovery.md, "Parts".
 */
export function createUpdateAssembler(
  maxBytes: number = maxUpdateBytes,
): (message: Uint8Array) => Result<ReceivedUpdate | undefined> {
  let pending: PendingUpdate | undefined;

  const take = (bytes: Uint8Array): Result<ReceivedUpdate | undefined> => {
    const message = readSnapshot(bytes);
    if (message === undefined) return problem("the snapshot message cannot be decoded");
    pending ??= startUpdate(message);
    if (pending.version !== message.version || Buffer.compare(pending.nonce, message.nonce) !== 0) {
      return problem("an update began before the last one was complete");
    }
    pending.bytes += bytes.length;
    if (pending.bytes > maxBytes) return problem(`the update is larger than ${maxBytes} bytes`);
    if (!add(pending, message)) return problem("a resource ends in the middle of its body");
    if (message.more) return ok(undefined);
    const { version, full, nonce, resources, removed, open } = pending;
    if (open !== undefined) return problem("the update ends in the middle of a body");
    pending = undefined;
    return ok({ nonce, update: { version, full, resources, removed } });
  };

  return (bytes) => {
    const taken = take(bytes);
    if (!taken.ok) pending = undefined;
    return taken;
  };
}

const startUpdate = ({ version, full, nonce }: SnapshotMessage): PendingUpdate => ({
  version,
  full,
  // A copy: the decoded field is a view of the message, and would keep it in memory.
  nonce: Uint8Array.from(nonce),
  resources: [],
  removed: [],
  shared: createSharedTexts(),
  bytes: 0,
  open: undefined,
});

/** False when a body is not complete and the next resource is another one. */
function add(pending: PendingUpdate, { resources, removed }: SnapshotMessage): boolean {
  for (const key of removed) pending.removed.push(key as ResourceKey);
  for (const { key, hash, body: text, more } of resources) {
    const { open } = pending;
    if (open !== undefined && (open.key !== key || open.hash !== hash)) return false;
    const body = (open?.body ?? "") + text;
    pending.open = more ? { key, hash, body } : undefined;
    if (!more) pending.resources.push({ key: key as ResourceKey, hash, body: pending.shared(hash, body) });
  }
  return true;
}

/** Returns the earlier string for an equal text with the same hash, so that equal texts are held once. */
function createSharedTexts(): PendingUpdate["shared"] {
  const known = new Map<string, string>();
  return (hash, text) => {
    const same = known.get(hash);
    if (same === text) return same;
    known.set(hash, text);
    return text;
  };
}
