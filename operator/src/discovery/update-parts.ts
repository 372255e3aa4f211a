import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { Snapshot } from "@svc-gateway/proto/generated/discovery.js";
import {
  bodyTag,
  delimitedLength,
  hashTag,
  keyTag,
  lengthOf,
  resourcesTag,
  writeHead,
  writeText,
  type EncodedUpdate,
} from "./update-encoding.ts";

/** Returns the next part of an update, encoded on request; undefined after the last. */
export type PartReader = () => EncodedUpdate | undefined;

/** The tag of `Snapshot.removed`. */
const removedTag = (5 << 3) | 2;
/** The fields `Snapshot.more` and `Resource.more` with the value true. */
const snapshotMore = Uint8Array.of(6 << 3, 1);
const resourceMore = Uint8Array.of(4 << 3, 1);
/** The smallest piece of a body, except for the last one; a shorter piece waits for the next part. */
const minPieceBytes = 1024;
/** The largest size of the tags and lengths of a resource and its fields. */
const maxResourceHead = 4 * 6 + resourceMore.length;
const minPartBytes = 16 * 1024;

/**
 * Splits an update into parts. Each is a `Snapshot` message without its nonce of at most `maxBytes`, which must be at
 * least 16 KiB. A body that exceeds the rest of a part continues in the next. Only the requested part is held as bytes,
 * never the whole update. See docs/discovery.md, "Parts".
 */
export function createPartReader(
  { version, full, resources, removed }: SnapshotUpdate,
  maxBytes: number,
): PartReader {
  if (maxBytes < minPartBytes) throw new Error("parts are too small");
  const head = new Snapshot({ version, full }).serialize();
  const limit = maxBytes - snapshotMore.length;
  let nextRemoved = 0;
  let nextResource = 0;
  /** The number of characters of the next resource's body that are in earlier parts. */
  let written = 0;
  let isOver = false;

  const writeRemoved = (part: Buffer, start: number): number => {
    let at = start;
    for (; nextRemoved < removed.length; nextRemoved++) {
      const key = removed[nextRemoved] as string;
      if (at + delimitedLength(Buffer.byteLength(key)) > limit) break;
      at = writeText(part, at, removedTag, key);
    }
    return at;
  };

  const writeResources = (part: Buffer, start: number): number => {
    let at = start;
    for (; nextResource < resources.length; nextResource++) {
      const resource = resources[nextResource] as Resource;
      const rest = written === 0 ? resource : { ...resource, body: resource.body.slice(written) };
      const length = lengthOf(rest);
      if (at + delimitedLength(length) <= limit) {
        at = writeResource(part, at, rest, length);
        written = 0;
        continue;
      }
      const room = limit - at - maxResourceHead - rest.key.length * 3 - rest.hash.length;
      if (room >= minPieceBytes) {
        const body = pieceOf(rest.body, room);
        const piece = { ...rest, body };
        at = writeResource(part, at, piece, lengthOf(piece) + resourceMore.length, resourceMore);
        written += body.length;
      }
      break;
    }
    return at;
  };

  return () => {
    if (isOver) return undefined;
    const part = Buffer.allocUnsafeSlow(maxBytes);
    part.set(head);
    let at = writeRemoved(part, head.length);
    if (nextRemoved === removed.length) at = writeResources(part, at);
    isOver = nextResource === resources.length && nextRemoved === removed.length;
    if (!isOver) {
      part.set(snapshotMore, at);
      at += snapshotMore.length;
    }
    return { body: part.subarray(0, at) };
  };
}

function writeResource(
  to: Buffer,
  start: number,
  { key, hash, body }: Resource,
  length: number,
  suffix?: Uint8Array,
): number {
  let at = writeHead(to, start, resourcesTag, length);
  at = writeText(to, at, keyTag, key);
  at = writeText(to, at, hashTag, hash);
  at = writeText(to, at, bodyTag, body);
  if (suffix === undefined) return at;
  to.set(suffix, at);
  return at + suffix.length;
}

/** Returns the beginning of a text, at most `maxBytes` in UTF-8, without splitting a character. */
function pieceOf(text: string, maxBytes: number): string {
  const piece = text.slice(0, maxBytes);
  const isAscii = Buffer.byteLength(piece) === piece.length;
  const end = isAscii ? piece.length : Math.floor(maxBytes / 3);
  const last = piece.charCodeAt(end - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return piece.slice(0, isHighSurrogate ? end - 1 : end);
}
