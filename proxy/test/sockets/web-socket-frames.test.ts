import { expect } from "chai";
import fc from "fast-check";
import { maskedGoingAway, WebSocketFrames } from "../../src/sockets/web-socket-frames.ts";

type Frame = { readonly opcode: number; readonly length: number; readonly isMasked: boolean };

function encoded({ opcode, length, isMasked }: Frame): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const lengthBytes =
    length < 126
      ? Buffer.of(mask | length)
      : length < 65_536
        ? Buffer.of(mask | 126, length >> 8, length & 255)
        : Buffer.of(mask | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255);
  // A payload that looks like Close frames.
  return Buffer.concat([
    Buffer.of(0x80 | opcode),
    lengthBytes,
    Buffer.alloc(isMasked ? 4 : 0, 0x88),
    Buffer.alloc(length, Buffer.of(0x88, 0)),
  ]);
}

const frame = fc.record({
  opcode: fc.constantFrom(0, 1, 2, 9, 10),
  length: fc.constantFrom(0, 1, 2, 5, 125, 126, 127, 300, 65_535, 65_536, 70_000),
  isMasked: fc.boolean(),
});

describe("WebSocketFrames", () => {
  it("a frame may be added between two frames and nowhere else, however they are cut into pieces", () => {
    fc.assert(
      fc.property(
        fc.array(frame, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat({ max: 140_000 }), { maxLength: 8 }),
        (frames, cuts) => {
          const parts = frames.map(encoded);
          const all = Buffer.concat(parts);
          const ends = new Set([0]);
          let end = 0;
          for (const part of parts) ends.add((end += part.length));
          const at = [...ends, ...cuts.map((cut) => cut % all.length), all.length].sort((a, b) => a - b);
          const reader = new WebSocketFrames();
          let from = 0;
          for (const to of at) {
            reader.read(all.subarray(from, to));
            expect(reader.mayAdd, `at ${to}`).to.equal(ends.has(to));
            from = to;
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("a frame is the same in single bytes", () => {
    const reader = new WebSocketFrames();
    const bytes = encoded({ opcode: 2, length: 300, isMasked: true });
    const open = [...bytes].map((byte) => {
      reader.read(Buffer.of(byte));
      return reader.mayAdd;
    });
    expect(open.indexOf(true)).to.equal(bytes.length - 1);
  });

  it("no frame may be added behind a Close frame", () => {
    const reader = new WebSocketFrames();
    reader.read(Buffer.of(0x88, 2, 0x03, 0xe8));
    expect(reader.mayAdd).to.equal(false);
  });

  it("each Close frame of a client has a mask of its own, and is the last frame", () => {
    const closes = Array.from({ length: 20 }, maskedGoingAway);
    expect(new Set(closes.map((close) => close.readUInt32BE(2))).size).to.be.greaterThan(10);
    for (const close of closes) {
      expect(close.readUInt16BE(6) ^ close.readUInt16BE(2)).to.equal(1001);
      const reader = new WebSocketFrames();
      reader.read(close);
      expect(reader.mayAdd).to.equal(false);
    }
  });
});
