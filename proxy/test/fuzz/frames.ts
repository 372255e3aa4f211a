/** HTTP/2 as bytes (RFC 9113 4.1, RFC 7541), so that everything that Node would not send can be sent. */

export const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export type Frame = {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
};

export function encodeFrame({ type, flags, stream, payload }: Frame): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field section of literals that no table remembers (RFC 7541 6.2.2). */
export const encodeFields = (fields: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), encodeText(name), encodeText(value)]));

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest > 127; rest >>>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.of(...length, rest), bytes]);
}

/** The complete frames at the beginning of the bytes, and what is left. */
export function readFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= 9) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes.readUInt8(at + 3),
      flags: bytes.readUInt8(at + 4),
      stream: bytes.readUInt32BE(at + 5) & 0x7fff_ffff,
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}
