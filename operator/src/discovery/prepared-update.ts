import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { maxPartBytes } from "@svc-gateway/proto/wire.ts";
import { encodedLength, encodeUpdate, type EncodedUpdate } from "./update-encoding.ts";
import { createPartReader, type PartReader } from "./update-parts.ts";

/** An update of a snapshot, which can be sent to any number of proxies. */
export type PreparedUpdate = {
  readonly isFull: boolean;
  /** The length of the update as one message, without the few bytes that differ between proxies. */
  readonly bytes: number;
  /** Returns the update as one message, encoded once for all proxies. */
  whole(): EncodedUpdate;
  /**
   * Returns the update in parts, for one proxy. Parts of a large update are not kept, so that many proxies use no more
   * memory than one.
   */
  parts(): PartReader;
};

export function prepareUpdate(update: SnapshotUpdate): PreparedUpdate {
  const bytes = encodedLength(update);
  let encoded: EncodedUpdate | undefined;
  const whole = (): EncodedUpdate => (encoded ??= encodeUpdate(update));
  return {
    isFull: update.full,
    bytes,
    whole,
    parts: () =>
      bytes > maxPartBytes - overheadBytes
        ? createPartReader(update, maxPartBytes - overheadBytes)
        : once(whole),
  };
}

/** The largest size of the nonce, flag, tags and lengths of a message in addition to the update. */
export const overheadBytes = 64;

function once(whole: () => EncodedUpdate): PartReader {
  let isRead = false;
  return () => {
    if (isRead) return undefined;
    isRead = true;
    return whole();
  };
}
