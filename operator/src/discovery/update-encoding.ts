import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { Resource, ServerMessage, Snapshot } from "@svc-gateway/proto/generated/discovery.js";

/** An update as bytes of a `Snapshot` message, all but its nonce. It is encoded once for all proxies. */
export type EncodedUpdate = { readonly isFull: boolean; readonly body: Uint8Array };

export function encodeUpdate({ version, full, resources, removed }: SnapshotUpdate): EncodedUpdate {
  const message = new Snapshot({
    version,
    full,
    resources: resources.map(
      ({ key, hash, body }) => new Resource({ key, hash, body: new Uint8Array(Buffer.from(body)) }),
    ),
    removed: [...removed],
  });
  return { isFull: full, body: message.serialize() };
}

/** What a message carries besides the flag: an update with the nonce under which it will be acknowledged. */
export type OutgoingUpdate = { readonly update: EncodedUpdate; readonly nonce: Uint8Array };

/** Tag of field 1 with a length before its bytes (Protocol Buffers encoding, "Message Structure"). */
const snapshotTag = 0x0a;

/**
 * Writes a `ServerMessage`. Fields of a message may come in any order and bytes of the same message may be joined, so
 * that flag and nonce, which differ from proxy to proxy, are written around the bytes that do not.
 */
export function encodeServerMessage(leading: boolean, outgoing?: OutgoingUpdate): Buffer {
  const flag = new ServerMessage({ leading }).serialize();
  if (outgoing === undefined) return Buffer.from(flag);
  const nonce = new Snapshot({ nonce: outgoing.nonce }).serialize();
  const length = outgoing.update.body.length + nonce.length;
  return Buffer.concat([Buffer.of(snapshotTag), varint(length), outgoing.update.body, nonce, flag]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
