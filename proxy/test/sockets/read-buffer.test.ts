import { expect } from "chai";
import { type Piece, ReadBuffer, sharedReadBytes } from "../../src/sockets/read-buffer.ts";

const kibibyte = 1024;

/** The memory of the next read, requested as a socket does. */
const nextOf = (memory: ReadBuffer): Buffer => {
  const { buffer } = memory.onread(() => true);
  return (typeof buffer === "function" ? buffer() : buffer) as Buffer;
};

/** The piece that is delivered for a read of `length` bytes into this memory. */
function pieceOf(memory: ReadBuffer, buffer: Buffer, length: number): Piece {
  let piece: Piece | undefined;
  memory
    .onread((received) => {
      piece = received;
      return true;
    })
    .callback(length, buffer);
  if (piece === undefined) throw new Error("nothing was handed on");
  return piece;
}

/** Reads `length` bytes as a socket would. Returns the memory of the read, and whether the receiver owns the piece. */
function read(
  memory: ReadBuffer,
  length: number,
  after: { announced?: number; held?: number | undefined; more?: boolean; room?: number },
): { buffer: Buffer; owned: boolean } {
  const buffer = nextOf(memory);
  const { owned } = pieceOf(memory, buffer, Math.min(length, buffer.length));
  memory.settle(after.announced ?? 0, after.held, after.more ?? true, after.room);
  return { buffer, owned };
}

describe("ReadBuffer", () => {
  it("ReadBuffer starts every connection in the same shared memory", () => {
    const [a, b] = [new ReadBuffer(), new ReadBuffer()];
    expect(nextOf(a).buffer).to.equal(nextOf(b).buffer);
    expect(nextOf(a)).to.have.length(sharedReadBytes);
  });

  it("ReadBuffer exposes only the bytes that were read", () => {
    for (const memory of [new ReadBuffer(), bulk(0)]) {
      const buffer = nextOf(memory).fill("x");
      const { bytes } = pieceOf(memory, buffer, buffer.write("head"));
      expect([bytes.length, bytes.indexOf("x"), bytes.toString("latin1")]).to.deep.equal([4, -1, "head"]);
    }
  });

  it("ReadBuffer stays in shared memory for small reads with little to come", () => {
    const memory = new ReadBuffer();
    for (let i = 0; i < 5; i++)
      expect(read(memory, 1000, { announced: 60_000, held: 0 }).owned).to.equal(false);
  });

  for (const [name, length, announced] of [
    ["much is announced", 100, 65_536],
    ["a read fills the memory", 65_536, 0],
  ] as const) {
    it(`ReadBuffer takes private memory when ${name} and the receiver keeps up`, () => {
      const memory = new ReadBuffer();
      expect(read(memory, length, { announced, held: 0 }).owned).to.equal(false);
      const { buffer, owned } = read(memory, 1000, { held: 0 });
      expect([buffer.length, owned]).to.deep.equal([64 * kibibyte, true]);
      expect(nextOf(memory).buffer).to.not.equal(nextOf(new ReadBuffer()).buffer);
    });
  }

  const bulk = (held: number | undefined): ReadBuffer => {
    const memory = new ReadBuffer();
    read(memory, 100, { announced: 10_000_000, held });
    return memory;
  };

  it("ReadBuffer reads as much as the receiver has room for", () => {
    for (const [room, expected] of [
      [10, 4 * kibibyte],
      [20_000, 20_000],
      [256 * kibibyte, 256 * kibibyte],
    ] as const) {
      const memory = new ReadBuffer();
      read(memory, 100, { announced: 10_000_000, held: 0, room });
      expect(nextOf(memory)).to.have.length(expected);
    }
  });

  it("ReadBuffer frees private memory when the receiver has little room and does not report what it holds", () => {
    const memory = new ReadBuffer();
    read(memory, 65_000, { announced: 10_000_000, held: undefined, room: 536 });
    const { buffer, owned } = read(memory, 4096, { held: undefined, more: false });
    expect([buffer.length, owned]).to.deep.equal([4 * kibibyte, false]);
    expect(nextOf(memory)).to.have.length(64 * kibibyte);
  });

  it("ReadBuffer does not hand out the shared memory as owned", () => {
    const memory = new ReadBuffer();
    read(memory, 100, { held: 1, room: 5000 });
    const buffer = nextOf(memory);
    expect([buffer.buffer === nextOf(new ReadBuffer()).buffer, buffer.length]).to.deep.equal([true, 5000]);
    expect(pieceOf(memory, buffer, 5000).owned).to.equal(false);
  });

  it("ReadBuffer stays in shared memory, with as much as there is room for, when the receiver copies", () => {
    const memory = new ReadBuffer();
    for (const [room, expected] of [
      [65_536, 65_536],
      [20_000, 20_000],
      [10, 4096],
      [undefined, 65_536],
    ] as const) {
      nextOf(memory);
      memory.stayShared(true, room);
      const buffer = nextOf(memory);
      expect(buffer).to.have.length(expected);
      expect(pieceOf(memory, buffer, buffer.length).owned).to.equal(false);
    }
  });

  it("ReadBuffer reuses private memory only when nothing of it is held", () => {
    const memory = bulk(0);
    const first = read(memory, 100_000, { held: 0 }).buffer;
    const second = read(memory, 100_000, { held: 0 }).buffer;
    expect([second.buffer === first.buffer, second.byteOffset]).to.deep.equal([true, first.byteOffset]);
  });

  it("ReadBuffer returns to shared memory when the receiver falls behind", () => {
    const memory = bulk(0);
    read(memory, 100_000, { held: 1 });
    expect(nextOf(memory).buffer).to.equal(nextOf(new ReadBuffer()).buffer);
  });

  it("ReadBuffer never reuses memory when the receiver does not report what it holds", () => {
    const memory = bulk(undefined);
    const seen: { start: number; end: number; memory: ArrayBufferLike }[] = [];
    for (let i = 0; i < 20; i++) {
      const { buffer, owned } = read(memory, 50_000 + i * 1000, { held: undefined });
      expect([owned, buffer.length <= 64 * kibibyte]).to.deep.equal([true, true]);
      const start = buffer.byteOffset;
      const piece = { start, end: start + 50_000 + i * 1000, memory: buffer.buffer };
      for (const other of seen) {
        expect(
          other.memory !== piece.memory || other.end <= piece.start || piece.end <= other.start,
        ).to.equal(true);
      }
      seen.push(piece);
    }
    expect(read(memory, 1000, { held: undefined, more: false }).owned).to.equal(true);
    expect(nextOf(memory).buffer).to.equal(nextOf(new ReadBuffer()).buffer);
  });

  for (const [held, isReused] of [
    [0, true],
    [1, false],
    [undefined, false],
  ] as const) {
    it(`ReadBuffer frees private memory at the end of the body, and ${isReused ? "reuses" : "does not reuse"} it when ${held ?? "an unknown number of"} bytes are held`, () => {
      const memory = bulk(held === undefined ? undefined : 0);
      const { buffer } = read(memory, 1000, { held: held === undefined ? undefined : 0 });
      memory.reset(held);
      expect(nextOf(memory).buffer).to.equal(nextOf(new ReadBuffer()).buffer);
      expect(nextOf(bulk(0)).buffer === buffer.buffer).to.equal(isReused);
    });
  }

  it("ReadBuffer gives private memory to others only once its own reader has turned to other memory", () => {
    const memory = bulk(0);
    const { buffer } = read(memory, 1000, { held: 0 });
    memory.reset(0);
    // The reader is not asked for a next read yet: what it reads still goes there.
    const other = bulk(0);
    expect(nextOf(other).buffer === buffer.buffer).to.equal(false);
    expect(pieceOf(memory, buffer, 10).owned).to.equal(true);
    nextOf(memory);
    expect(nextOf(bulk(0)).buffer === buffer.buffer).to.equal(true);
  });
});
