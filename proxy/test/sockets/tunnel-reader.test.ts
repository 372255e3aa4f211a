import { expect } from "chai";
import { TunnelReader } from "../../src/sockets/tunnel-reader.ts";

/** Plays the socket: reads `length` bytes of the value `fill`, and answers where to and whether it goes on. */
function read(
  reader: TunnelReader,
  length: number,
  fill: number,
): { memory: ArrayBufferLike; more: boolean } {
  const { buffer, callback } = reader.onread;
  const into = typeof buffer === "function" ? buffer() : buffer;
  into.fill(fill, 0, length);
  return { memory: into.buffer, more: callback(length, into) };
}

/** Keeps what it is given; `heldBytes` is what it says of it. */
class Receiver {
  readonly pieces: Buffer[] = [];
  heldBytes: number | undefined = 0;
  readonly roomBytes = 262_144;
  more = true;

  receive(bytes: Buffer): boolean {
    this.pieces.push(bytes);
    return this.more;
  }
}

const fillsOf = ({ pieces }: Receiver): readonly (number | undefined)[] =>
  pieces.map((piece) => (piece.every((byte) => byte === piece[0]) ? piece[0] : undefined));

describe("TunnelReader", () => {
  it("TunnelReader keeps bytes that arrive before there is a receiver, and pauses", () => {
    const reader = new TunnelReader();
    expect(read(reader, 10, 1).more).to.equal(false);
    read(new TunnelReader(), 10, 9);
    const receiver = new Receiver();
    reader.start(receiver);
    expect(read(reader, 10, 2).more).to.equal(true);
    expect(fillsOf(receiver)).to.deep.equal([1, 2]);
  });

  it("TunnelReader copies small reads out of the memory that all readers share", () => {
    const [a, b] = [new TunnelReader(), new TunnelReader()];
    const receiver = new Receiver();
    a.start(receiver);
    b.start(new Receiver());
    expect(read(a, 1000, 1).memory).to.equal(read(b, 1000, 2).memory);
    expect(fillsOf(receiver)).to.deep.equal([1]);
  });

  it("TunnelReader reads bulk data into its own memory, which it reuses while nothing is held", () => {
    const reader = new TunnelReader();
    reader.start(new Receiver());
    const { memory: common } = read(reader, 65_536, 1);
    const { memory } = read(reader, 262_144, 2);
    expect(memory).to.not.equal(common);
    expect(read(reader, 262_144, 3).memory).to.equal(memory);
  });

  for (const heldBytes of [1, undefined]) {
    it(`TunnelReader overwrites nothing while ${heldBytes === undefined ? "an unknown number of bytes" : "a byte"} is held`, () => {
      const reader = new TunnelReader();
      const receiver = new Receiver();
      receiver.heldBytes = heldBytes;
      reader.start(receiver);
      for (let fill = 1; fill <= 12; fill++) read(reader, 65_536, fill);
      expect(fillsOf(receiver)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    });
  }

  it("TunnelReader frees its own memory when little data arrives", () => {
    const reader = new TunnelReader();
    reader.start(new Receiver());
    const { memory: common } = read(reader, 65_536, 1);
    read(reader, 262_144, 2);
    read(reader, 100, 3);
    expect(read(reader, 100, 4).memory).to.equal(common);
  });

  it("TunnelReader passes the receiver's pause on", () => {
    const reader = new TunnelReader();
    const receiver = new Receiver();
    receiver.more = false;
    reader.start(receiver);
    expect(read(reader, 10, 1).more).to.equal(false);
  });
});
