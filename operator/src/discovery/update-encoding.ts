import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ServerMessage, Snapshot } from "@svc-gateway/proto/generated/discovery.js";

/** An update as bytes of one `Snapshot` message, all but its nonce. */
export type EncodedUpdate = { readonly body: Uint8Array };

/** The resources, which may be tens of thousands, are written into place without an object of a message for each. */
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

/** The length of that message. */
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

/** Of tag, length and so many bytes. */
export function delimitedLength(length: number): number {
  let bytes = 2;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes + length;
}

/** Writes tag and length; gives where the bytes go. */
export function writeHead(to: Buffer, at: number, tag: number, length: number): number {
  let next = to.writeUInt8(tag, at);
  let rest = length;
  for (; rest > 0x7f; rest >>>= 7) next = to.writeUInt8((rest & 0x7f) | 0x80, next);
  return to.writeUInt8(rest, next);
}

/** Writes a field of text; gives where the next one goes. */
export function writeText(to: Buffer, at: number, tag: number, text: string): number {
  const start = writeHead(to, at, tag, Buffer.byteLength(text));
  return start + to.write(text, start);
}

/** What a message carries besides the flag: an update or a part of one, with the nonce under which it will be acknowledged. */
export type OutgoingMessage = { readonly update: EncodedUpdate; readonly nonce: Uint8Array };

/** Tag of `ServerMessage.snapshot`. */
const snapshotTag = (1 << 3) | 2;

/**
 * Writes a `ServerMessage`. Fields of a message may come in any order and bytes of the same message may be joined, so
 * that flag and nonce, which differ from proxy to proxy, are written around the bytes that do not.
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
