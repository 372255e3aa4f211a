import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import { maxUpdateBytes } from "@svc-gateway/proto/wire.ts";

/** An update with the nonce under which it is acknowledged. */
export type ReceivedUpdate = { readonly update: SnapshotUpdate; readonly nonce: Uint8Array };

/** What has come of an update. */
type Begun = Pick<Snapshot, "version" | "full"> & {
  readonly nonce: Uint8Array;
  readonly resources: Resource[];
  readonly removed: ResourceKey[];
  readonly shared: (hash: string, text: string) => string;
  bytes: number;
  /** The resource whose body goes on in the next part. */
  open: { readonly key: string; readonly hash: string; body: string } | undefined;
};

/**
 * Puts updates together from the snapshot messages of one stream, most of which are an update by themselves. Undefined
 * while parts are missing: an update that is cut off is never seen. Equal bodies, as those of a host that two ports serve
 * alike, become one text. Whether hashes and version are right is for the receiver of the update to check; a body that is
 * not UTF-8 cannot have the right hash. A problem is a message that cannot be read, a part of another update than the one
 * that has begun, or an update of more than `maxBytes`. See docs/discovery.md, "Parts".
 */
export function createUpdateAssembler(
  maxBytes: number = maxUpdateBytes,
): (message: Uint8Array) => Result<ReceivedUpdate | undefined> {
  let begun: Begun | undefined;

  const take = (bytes: Uint8Array): Result<ReceivedUpdate | undefined> => {
    const message = read(bytes);
    if (message === undefined) return problem("the snapshot message cannot be read");
    begun ??= begin(message);
    if (begun.version !== message.version || Buffer.compare(begun.nonce, message.nonce) !== 0) {
      return problem("an update began before the last one was complete");
    }
    begun.bytes += bytes.length;
    if (begun.bytes > maxBytes) return problem(`the update is larger than ${maxBytes} bytes`);
    if (!add(begun, message)) return problem("a resource ends in the middle of its body");
    if (message.more) return ok(undefined);
    const { version, full, nonce, resources, removed, open } = begun;
    if (open !== undefined) return problem("the update ends in the middle of a body");
    begun = undefined;
    return ok({ nonce, update: { version, full, resources, removed } });
  };

  return (bytes) => {
    const taken = take(bytes);
    if (!taken.ok) begun = undefined;
    return taken;
  };
}

function read(bytes: Uint8Array): Snapshot | undefined {
  try {
    return Snapshot.deserialize(bytes);
  } catch {
    return undefined;
  }
}

const begin = ({ version, full, nonce }: Snapshot): Begun => ({
  version,
  full,
  // A copy: what was read is a view of the message, which would be kept with it.
  nonce: Uint8Array.from(nonce),
  resources: [],
  removed: [],
  shared: createSharedTexts(),
  bytes: 0,
  open: undefined,
});

/** False when a body is not complete and the next resource is another one. */
function add(begun: Begun, { resources, removed }: Snapshot): boolean {
  for (const key of removed) begun.removed.push(key as ResourceKey);
  for (const { key, hash, body: bytes, more } of resources) {
    const { open } = begun;
    if (open !== undefined && (open.key !== key || open.hash !== hash)) return false;
    const body = (open?.body ?? "") + textOf(bytes);
    begun.open = more ? { key, hash, body } : undefined;
    if (!more) begun.resources.push({ key: key as ResourceKey, hash, body: begun.shared(hash, body) });
  }
  return true;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

/** A text that equals an earlier one with its hash is that one: equal texts are held once. */
function createSharedTexts(): Begun["shared"] {
  const known = new Map<string, string>();
  return (hash, text) => {
    const same = known.get(hash);
    if (same === text) return same;
    known.set(hash, text);
    return text;
  };
}
