import { expect } from "chai";
import fc from "fast-check";
import { FrameReader } from "../../../src/http2/frames/frame-reader.ts";
import { frame, preface } from "../../http/h2/frames.ts";

/** The frames and faults that a reader reports, as text. */
function read(bytes: Buffer, cuts: readonly number[], asServer = true): string[] {
  const found: string[] = [];
  let content = "";
  const reader = new FrameReader(
    {
      onFrame(type, flags, streamId, from, start, end) {
        found.push(`${type}/${flags}@${streamId} ${from.toString("hex", start, end)}`);
        return true;
      },
      onDataFrame(streamId, length) {
        found.push(`DATA@${streamId} of ${length}`);
        content = "";
        return true;
      },
      onContent(from, start, end) {
        content += from.toString("hex", start, end);
        return true;
      },
      onDataEnd(streamId, overheadBytes, endStream) {
        found.push(`end@${streamId} ${content} ${overheadBytes} ${endStream}`);
        return true;
      },
      onUnknownFrame(type, length) {
        found.push(`unknown ${type} ${length}`);
        return true;
      },
      onFault: (code, reason) => void found.push(`fault ${code} ${reason}`),
    },
    { asServer, maxFrameBytes: 16_384 },
  );
  let at = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    if (cut <= at || cut >= bytes.length) continue;
    reader.read(Buffer.from(bytes.subarray(at, cut)));
    at = cut;
  }
  reader.read(Buffer.from(bytes.subarray(at)));
  return found;
}

const anyFrame = fc
  .record({
    type: fc.oneof(fc.nat({ max: 11 }), fc.constant(0)),
    flags: fc.constantFrom(0, 1, 4, 8, 9, 0xff),
    streamId: fc.constantFrom(0, 1, 3, 0x7fffffff, 0x80000001),
    payload: fc.uint8Array({ maxLength: 40 }),
  })
  .map(({ type, flags, streamId, payload }) => frame(type, flags, streamId, Buffer.from(payload)));

describe("the reader of HTTP/2 frames", () => {
  it("the same frames are found in bytes that are cut anywhere", () => {
    fc.assert(
      fc.property(
        fc.array(anyFrame, { maxLength: 8 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 30 }),
        (frames, cuts) => {
          const bytes = Buffer.concat([preface, ...frames]);
          const whole = read(bytes, []);
          expect(read(bytes, cuts)).to.deep.equal(whole);
          expect(
            read(
              bytes,
              Array.from({ length: bytes.length }, (_, at) => at),
            ),
          ).to.deep.equal(whole);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("content, padding and the end of DATA are found", () => {
    const bytes = Buffer.concat([frame(0, 9, 1, Buffer.from([2, 0x61, 0x62, 0, 0])), frame(0, 0, 3)]);
    expect(read(bytes, [], false)).to.deep.equal([
      "DATA@1 of 5",
      "end@1 6162 3 true",
      "DATA@3 of 0",
      "end@3  0 false",
    ]);
  });

  for (const [what, bytes, fault] of [
    [
      "a frame larger than announced",
      frame(1, 0, 1, Buffer.alloc(16_385)),
      "fault 6 frame larger than announced",
    ],
    [
      "padding longer than its frame",
      frame(0, 8, 1, Buffer.from([2, 0])),
      "fault 1 padding longer than its frame",
    ],
    ["no room for the length of the padding", frame(0, 8, 1), "fault 6 no length of padding"],
  ] as const) {
    it(`${what} is refused, and nothing behind it is read`, () => {
      const found = read(Buffer.concat([bytes, frame(6, 0, 0, Buffer.alloc(8))]), [], false);
      expect(found.at(-1)).to.equal(fault);
    });
  }

  it("a preface is refused at its first wrong octet", () => {
    expect(read(Buffer.from("PRI * HTTP/2.1"), [3])).to.deep.equal(["fault 1 no connection preface"]);
  });
});
