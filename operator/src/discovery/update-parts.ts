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

/** Gives the parts of an update one after the other, each encoded when it is asked for; undefined after the last. */
export type PartReader = () => EncodedUpdate | undefined;

/** Tag of `Snapshot.removed`. */
const removedTag = (5 << 3) | 2;
/** `Snapshot.more` and `Resource.more`, which are true. */
const snapshotMore = Uint8Array.of(6 << 3, 1);
const resourceMore = Uint8Array.of(4 << 3, 1);
/** A piece of a body that is shorter than this waits for the next part, unless it is the last one. */
const minPieceBytes = 1024;
/** Tags and lengths of a resource and its fields, at most. */
const maxResourceHead = 4 * 6 + resourceMore.length;
const minPartBytes = 16 * 1024;

/**
 * Cuts an update into parts: `Snapshot` messages without their nonce of at most `maxBytes`, which is 16 KiB or more. A
 * body that is longer than what is left of a part goes on in the next. Of the whole only the part that was asked for is
 * held as bytes. See docs/discovery.md, "Parts".
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
  /** Of the next resource: the characters of its body that are in earlier parts. */
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

/** The beginning of a text of at most so many bytes of UTF-8; never ends inside a character. */
function pieceOf(text: string, maxBytes: number): string {
  const piece = text.slice(0, maxBytes);
  const isAscii = Buffer.byteLength(piece) === piece.length;
  const end = isAscii ? piece.length : Math.floor(maxBytes / 3);
  const last = piece.charCodeAt(end - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return piece.slice(0, isHighSurrogate ? end - 1 : end);
}
