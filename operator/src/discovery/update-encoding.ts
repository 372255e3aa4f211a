import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ServerMessage, Snapshot } from "@svc-gateway/proto/generated/discovery.js";

/** An update as the bytes of one `Snapshot` message without its nonce. */
export type EncodedUpdate = { readonly body: Uint8Array };

/**
 * Encodes an update. Resources, of which there can be tens of thousands, are written in place without a message object
 * for each.
 */
export function encodeUpdate({ version, full, resources, removed }: SnapshotUpdate): EncodedUpdate {
  const rest = new Snapshot({ version, full, removed: [...removed] }).serialize();
  const lengths = resources.map(lengthOf);
  const total = lengths.reduce((sum, length) => sum + delimitedLength(length), rest.length);
  const body = Buffer.allocUnsafe(total);
  body.set(rest);
  let at = rest.length;
  for (const [index, { key, hash, body: text }] of resources.entries()) {
    at = writeHead(body, at, resourcesTag, lengths[index] as number);
    at = writeText(body, at, keyTag, key);
    at = writeText(body, at, hashTag, hash);
    at = writeText(body, at, bodyTag, text);
  }
  return { body };
}

/** The length of the encoded update. */
export function encodedLength({ version, full, resources, removed }: SnapshotUpdate): number {
  const rest = new Snapshot({ version, full }).serialize().length;
  const keys = removed.reduce((sum, key) => sum + delimitedLength(Buffer.byteLength(key)), 0);
  return resources.reduce((sum, resource) => sum + delimitedLength(lengthOf(resource)), rest + keys);
}

/** Tags of `Snapshot.resources` and of the fields of `Resource`: number and type, "length before bytes". */
export const resourcesTag = (4 << 3) | 2;
export const keyTag = (1 << 3) | 2;
export const hashTag = (2 << 3) | 2;
export const bodyTag = (3 << 3) | 2;

/** The length of a `Resource` message. */
export const lengthOf = ({ key, hash, body }: Resource): number =>
  [key, hash, body].reduce((sum, text) => sum + delimitedLength(Buffer.byteLength(text)), 0);

/** The length of a field with its tag, its length and `length` bytes of content. */
export function delimitedLength(length: number): number {
  let bytes = 2;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes + length;
}

/** Writes tag and length; returns the offset of the content. */
export function writeHead(to: Buffer, at: number, tag: number, length: number): number {
  let next = to.writeUInt8(tag, at);
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) next = to.writeUInt8((rest & 0x7f) | 0x80, next);
  return to.writeUInt8(rest, next);
}

/** Writes a text field; returns the offset of the next field. */
export function writeText(to: Buffer, at: number, tag: number, text: string): number {
  const start = writeHead(to, at, tag, Buffer.byteLength(text));
  return start + to.write(text, start);
}

/**
 * The content of a message besides the flag: an update or a part of one, with the nonce by which it is acknowledged.
 */
export type OutgoingMessage = { readonly update: EncodedUpdate; readonly nonce: Uint8Array };

/** The tag of `ServerMessage.snapshot`. */
const snapshotTag = (1 << 3) | 2;

/**
 * Encodes a `ServerMessage`. Fields of a message can be in any order, and parts of the same message are merged. Flag
 * and nonce, which differ between proxies, are therefore written around the shared bytes.
 */
export function encodeServerMessage(leading: boolean, outgoing?: OutgoingMessage): Buffer {
  const flag = new ServerMessage({ leading, answers_pings: true }).serialize();
  if (outgoing === undefined) return Buffer.from(flag);
  const nonce = new Snapshot({ nonce: outgoing.nonce }).serialize();
  const length = outgoing.update.body.length + nonce.length;
  const head = Buffer.alloc(delimitedLength(length) - length);
  writeHead(head, 0, snapshotTag, length);
  return Buffer.concat([head, outgoing.update.body, nonce, flag]);
}
