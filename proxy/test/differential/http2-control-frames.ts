import fc from "fast-check";
import { flags, frame, frameTypes, uint32 } from "../http/h2/frames.ts";

/** A frame beside the messages; `id` is the stream of the message. */
export type ControlFrame = (id: number) => Buffer;

/** PRIORITY_UPDATE (RFC 9218 7.1). */
const priorityUpdate = 16;

const values = fc.oneof(
  fc.constantFrom(
    "u=1",
    "u=7, i",
    "i=?0",
    "",
    "u=9",
    "u=-1",
    "u=1;x, i;y=2",
    'u="a"',
    "u=(1 2), i",
    "i, u=0, u=5",
  ),
  fc.constantFrom("u=1,", ",", "U=1", "u=1\0", "\x80", "u=", "x".repeat(300)),
);

/** Frames that a client may send at any time between the frames of its messages: they change nothing of these. */
export const controlFrame: fc.Arbitrary<ControlFrame> = fc.oneof(
  fc.tuple(fc.constantFrom(-2, 0, 2, 40), values).map(
    ([from, value]) =>
      (id: number) =>
        frame(
          priorityUpdate,
          0,
          0,
          Buffer.concat([uint32(Math.max(1, id + from)), Buffer.from(value, "latin1")]),
        ),
  ),
  fc.tuple(fc.constantFrom(-2, 0, 2), fc.nat({ max: 255 })).map(
    ([from, weight]) =>
      (id: number) =>
        frame(frameTypes.priority, 0, Math.max(1, id + from), Buffer.of(0, 0, 0, 0, weight)),
  ),
  fc.constantFrom(1, 65_535).map((by) => () => frame(frameTypes.windowUpdate, 0, 0, uint32(by))),
  fc.constantFrom([3, 7], [4, 65_535], [4, 100_000], [1, 0], [1, 4096], [6, 16_384], [77, 1]).map(
    ([name = 0, value = 0]) =>
      () =>
        frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, name), uint32(value)])),
  ),
  fc
    .constantFrom("before..", "between.")
    .map((text) => () => frame(frameTypes.ping, 0, 0, Buffer.from(text))),
  fc.tuple(fc.constantFrom(11, 12, 32, 255), fc.nat({ max: 20 })).map(
    ([type, length]) =>
      () =>
        frame(type, 0, 0, Buffer.alloc(length)),
  ),
);

/** How a block of fields is divided into frames. */
export type Division = { readonly padding: number; readonly hasPriority: boolean; readonly cut: number };

export const division: fc.Arbitrary<Division> = fc.record({
  padding: fc.constantFrom(-1, -1, -1, 0, 5, 255),
  hasPriority: fc.nat({ max: 5 }).map((one) => one === 0),
  cut: fc.constantFrom(-1, -1, -1, 0, 1, 7),
});

/** HEADERS with padding and priority, and CONTINUATION behind it. */
export function headersOf(
  id: number,
  endFlag: number,
  block: Buffer,
  { padding, hasPriority, cut }: Division,
): Buffer {
  const [first, rest] = cut < 0 ? [block, undefined] : [block.subarray(0, cut), block.subarray(cut)];
  const parts = [
    ...(padding < 0 ? [] : [Buffer.of(padding)]),
    ...(hasPriority ? [Buffer.of(0, 0, 0, 0, 15)] : []),
    first,
    Buffer.alloc(Math.max(0, padding)),
  ];
  const own = (padding < 0 ? 0 : flags.padded) | (hasPriority ? flags.priority : 0) | endFlag;
  const end = rest === undefined ? flags.endHeaders : 0;
  return Buffer.concat([
    frame(frameTypes.headers, own | end, id, Buffer.concat(parts)),
    ...(rest === undefined ? [] : [frame(frameTypes.continuation, flags.endHeaders, id, rest)]),
  ]);
}
