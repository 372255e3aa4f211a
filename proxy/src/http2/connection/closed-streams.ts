/** Streams remembered as ended by the peer, and as reset here while the peer may still have been sending. */
const maxEnded = 64;
const maxCutOff = 1024;

/** What may still come for a stream that is closed. */
export type Afterlife =
  /** It was reset here: what crosses that on its way is ignored (RFC 9113 5.1). */
  | "ignored"
  /** The peer has ended it itself, so that nothing may follow. */
  | "forbidden"
  /** Not remembered: closed long ago, or never opened. */
  | "unknown";

/** How the latest streams of a connection came to their end, for frames that come later. */
export class ClosedStreams {
  private readonly ended: number[] = [];
  private nextEnded = 0;
  private cutOff: Set<number> | undefined = undefined;

  /** The peer has ended its side, or reset the stream. */
  addEnded(streamId: number): void {
    this.ended[this.nextEnded] = streamId;
    this.nextEnded = (this.nextEnded + 1) % maxEnded;
  }

  /** The stream was reset here before the peer had ended its side. */
  addCutOff(streamId: number): void {
    this.cutOff ??= new Set();
    this.cutOff.add(streamId);
    if (this.cutOff.size <= maxCutOff) return;
    for (const oldest of this.cutOff) {
      this.cutOff.delete(oldest);
      break;
    }
  }

  /** The peer has ended a stream that was reset here. */
  endCutOff(streamId: number): void {
    if (this.cutOff?.delete(streamId) === true) this.addEnded(streamId);
  }

  of(streamId: number): Afterlife {
    if (this.cutOff?.has(streamId) === true) return "ignored";
    return this.ended.includes(streamId) ? "forbidden" : "unknown";
  }
}
