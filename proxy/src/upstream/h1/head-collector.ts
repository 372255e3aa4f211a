import type { BorrowedBytes } from "../../sockets/read-buffer.ts";
import { maxHeadBytes } from "./response-head.ts";

/** The largest piece that is converted to text as a whole, on the assumption that it contains the whole message. */
const maxProbeBytes = 16_384;
const headStart = "HTTP/1.";

/**
 * Finds the end of a response head that can arrive in any number of pieces. The work is linear in the bytes, however
 * small the pieces. A head that cannot become valid is rejected before it is complete, so that a peer with another
 * protocol fails immediately.
 */
export class HeadCollector {
  /** A text that begins with the head, once the head is complete. */
  text = "";
  /** The length of the complete head in characters, including the empty line. */
  headLength = 0;
  /** The reason why the head is refused, for the access log. */
  problem: string | undefined = undefined;
  private partial = "";
  /** The last three characters of `partial`, in which the mark of the end might begin. */
  private tail = "";

  /** Whether a head has begun in an earlier piece. */
  get hasPart(): boolean {
    return this.partial !== "";
  }

  /**
   * Reads `bytes` from index `from`. Returns the index after the head; -1 if it is incomplete or refused (`problem`).
   */
  collect(bytes: BorrowedBytes, from: number): number {
    if (this.partial !== "") return this.collectMore(bytes, from);
    let { text } = this;
    let end: number;
    if (bytes.length - from <= maxProbeBytes) {
      text = bytes.toString("latin1", from);
      end = text.indexOf("\r\n\r\n") + 4;
    } else {
      end = bytes.indexOf("\r\n\r\n", from, "latin1") - from + 4;
      text = bytes.toString("latin1", from, end < 4 ? bytes.length : from + end);
    }
    if (end < 4) return this.keep(text, text);
    if (end > maxHeadBytes) return this.refuse("response head too large");
    this.text = text;
    this.headLength = end;
    return from + end;
  }

  private collectMore(bytes: BorrowedBytes, from: number): number {
    const piece = bytes.toString("latin1", from);
    const seam = this.tail + piece;
    const mark = seam.indexOf("\r\n\r\n");
    if (mark < 0) return this.keep(piece, seam);
    const taken = mark + 4 - this.tail.length;
    if (this.partial.length + taken > maxHeadBytes) return this.refuse("response head too large");
    this.text = this.partial + piece.slice(0, taken);
    this.headLength = this.text.length;
    this.partial = "";
    return from + taken;
  }

  /** Keeps an incomplete piece; `seam` is the piece with the last characters before it. */
  private keep(piece: string, seam: string): number {
    const alreadyHeld = this.partial.length;
    this.partial += piece;
    this.tail = seam.slice(-3);
    if (this.partial.length > maxHeadBytes) return this.refuse("response head too large");
    if (/[^\r]\n/.test(seam)) return this.refuse("invalid response header");
    // Checked only while it is short, because every check joins all pieces into one string.
    if (alreadyHeld >= headStart.length) return -1;
    const begun = this.partial.slice(0, headStart.length);
    return headStart.startsWith(begun) ? -1 : this.refuse("invalid status line");
  }

  private refuse(problem: string): number {
    this.problem = problem;
    this.partial = "";
    return -1;
  }
}
