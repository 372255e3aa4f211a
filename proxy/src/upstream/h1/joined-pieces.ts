import { sharedReadBytes } from "../../sockets/read-buffer.ts";
import { Slabs } from "../../sockets/slabs.ts";
import type { Transport } from "../../sockets/transport.ts";
import type { Chunk } from "../../message/message.ts";

/** Memory for the pieces of one write, and a head before them. */
const slabs = new Slabs(sharedReadBytes + 2048, 16);
/**
 * The most messages of a thread that hold a slab at a time, each until the end of the turn. Others write their pieces
 * separately.
 */
const maxJoining = 64;

/** The number of messages that hold a slab. */
let joining = 0;

/** The part of a transport that joined pieces are written to. */
type PiecesTransport = Pick<Transport, "waitingBytes" | "writeBytes" | "lendBytes">;

/**
 * Joins the pieces of a message that arrive within one turn into one write. The pieces are copied, so that their memory
 * can be overwritten afterwards. From one turn to the next, only the transport holds data.
 */
export class JoinedPieces {
  bytes = 0;
  private slab: Buffer | undefined = undefined;

  /** Adds a piece between two texts of one octet per character. Returns false if there is no room. */
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

  /** Writes the joined pieces. */
  writeTo(transport: PiecesTransport): void {
    const { slab, bytes } = this;
    if (slab === undefined) return;
    this.end();
    const joined = slab.subarray(0, bytes);
    // Pieces that have to wait behind another write are copied into memory of their exact size.
    if (transport.waitingBytes > 0) {
      transport.writeBytes("", Buffer.from(joined), "");
      slabs.giveBack(slab);
    } else transport.lendBytes(joined, () => slabs.giveBack(slab));
  }

  /** Drops the joined pieces. */
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
