import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { readSnapshot, type SnapshotMessage } from "@svc-gateway/proto/snapshot-message.ts";
import { maxUpdateBytes } from "@svc-gateway/proto/wire.ts";
import { IncomingUpdate } from "../state/incoming-update.ts";

/** The part of an update that has arrived, with the nonce under which the update is acknowledged. */
export type ReceivedUpdate = {
  readonly update: IncomingUpdate;
  readonly nonce: Uint8Array;
  readonly isComplete: boolean;
};

export type UpdateAssembler = {
  /** Adds the next message of the stream. */
  take(message: Uint8Array): Result<ReceivedUpdate>;
  /** Abandons an incomplete update, because the stream has ended. */
  abandon(): void;
};

/** An incomplete update. */
type PendingUpdate = {
  readonly update: IncomingUpdate;
  readonly nonce: Uint8Array;
  readonly removed: ResourceKey[];
  readonly shared: (hash: string, text: string) => string;
  bytes: number;
  /** The resource whose body continues in the next part. */
  open: { readonly key: string; readonly hash: string; body: string } | undefined;
};

/**
 * Assembles updates from the snapshot messages of one stream, most of which are a whole update. Equal bodies, such as
 * those of a host that two ports serve alike, become one string. The receiver of the update checks hashes and version;
 * a body that is not UTF-8 cannot have the right hash. Fails and abandons the update for a message that cannot be
 * decoded, a part of an update other than the pending one, or an update of more than `maxBytes`. See docs/discovery.md,
 * "Parts".
 */
export function createUpdateAssembler(maxBytes: number = maxUpdateBytes): UpdateAssembler {
  let pending: PendingUpdate | undefined;

  const take = (bytes: Uint8Array): Result<ReceivedUpdate> => {
    const message = readSnapshot(bytes);
    if (message === undefined) return problem("the snapshot message cannot be decoded");
    pending ??= startUpdate(message);
    if (pending.update.version !== message.version || Buffer.compare(pending.nonce, message.nonce) !== 0) {
      return problem("an update began before the last one was complete");
    }
    pending.bytes += bytes.length;
    if (pending.bytes > maxBytes) return problem(`the update is larger than ${maxBytes} bytes`);
    if (!add(pending, message)) return problem("a resource ends in the middle of its body");
    const { update, nonce, removed, open } = pending;
    if (message.more) return ok({ update, nonce, isComplete: false });
    if (open !== undefined) return problem("the update ends in the middle of a body");
    pending = undefined;
    update.complete(removed);
    return ok({ update, nonce, isComplete: true });
  };

  const abandon = (): void => {
    pending?.update.abandon();
    pending = undefined;
  };

  return {
    take(bytes) {
      const taken = take(bytes);
      if (!taken.ok) abandon();
      return taken;
    },
    abandon,
  };
}

const startUpdate = ({ version, full, nonce }: SnapshotMessage): PendingUpdate => ({
  update: new IncomingUpdate({ version, full }),
  // A copy: the decoded field is a view of the message, and would keep it in memory.
  nonce: Uint8Array.from(nonce),
  removed: [],
  shared: createSharedTexts(),
  bytes: 0,
  open: undefined,
});

/** Adds the resources of a message. Returns false if another resource follows an incomplete body. */
function add(pending: PendingUpdate, { resources, removed }: SnapshotMessage): boolean {
  for (const key of removed) pending.removed.push(key as ResourceKey);
  const complete: Resource[] = [];
  for (const { key, hash, body: text, more } of resources) {
    const { open } = pending;
    if (open !== undefined && (open.key !== key || open.hash !== hash)) return false;
    const body = (open?.body ?? "") + text;
    pending.open = more ? { key, hash, body } : undefined;
    if (!more) complete.push({ key: key as ResourceKey, hash, body: pending.shared(hash, body) });
  }
  pending.update.add(complete);
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
