import { sharedReadBytes } from "../../sockets/read-buffer.ts";
import { Slabs } from "../../sockets/slabs.ts";
import type { Transport } from "../../sockets/transport.ts";
import type { Chunk } from "../../message/message.ts";

/** What the pieces of one write come to, and a head before them. */
const slabs = new Slabs(sharedReadBytes + 2048, 16);
/** Messages of a thread that may hold a slab at one time, each until the end of the turn. Others write piece by piece. */
const maxJoining = 64;

/** Messages that hold one. */
let joining = 0;

/** The transport that they are written to. */
type PiecesTransport = Pick<Transport, "waitingBytes" | "writeBytes" | "lendBytes">;

/**
 * The pieces of a message that come within a turn, put together for one write: their memory may be written over afterwards. Nothing is
 * held from one turn to the next but by the transport.
 */
export class JoinedPieces {
  bytes = 0;
  private slab: Buffer | undefined = undefined;

  /** Takes a piece between two texts of one octet per character. False: there is no room for it. */
  add(before: string, piece: Chunk, after: string): boolean {
    const end = this.bytes + before.length + piece.length + after.length;
    if (end > slabs.size) return false;
    const slab = this.slab ?? this.begin();
    if (slab === undefined) return false;
    let at = this.bytes;
    if (before !== "") at += slab.write(before, at, "latin1");
    if (typeof piece === "string") slab.write(piece, at, "latin1");
    else slab.set(piece, at);
    if (after !== "") slab.write(after, end - after.length, "latin1");
    this.bytes = end;
    return true;
  }

  /** Writes what was put together. */
  writeTo(transport: PiecesTransport): void {
    const { slab, bytes } = this;
    if (slab === undefined) return;
    this.end();
    const joined = slab.subarray(0, bytes);
    // Behind another write it waits, in memory of its own size.
    if (transport.waitingBytes > 0) {
      transport.writeBytes("", Buffer.from(joined), "");
      slabs.giveBack(slab);
    } else transport.lendBytes(joined, () => slabs.giveBack(slab));
  }

  /** Drops what was put together. */
  drop(): void {
    const { slab } = this;
    if (slab === undefined) return;
    this.end();
    slabs.giveBack(slab);
  }

  private begin(): Buffer | undefined {
    if (joining === maxJoining) return undefined;
    joining++;
    this.slab = slabs.take();
    return this.slab;
  }

  private end(): void {
    joining--;
    this.slab = undefined;
    this.bytes = 0;
  }
}
