/** How many streams are remembered as ended by the peer, and as reset by this end while the peer might still send. */
const maxEnded = 64;
const maxCutOff = 1024;

/** How frames that arrive for a closed stream are treated. */
export type Afterlife =
  /** This end has reset the stream: frames that cross the reset are ignored (RFC 9113 5.1). */
  | "ignored"
  /** The peer itself has ended the stream, so no frames may follow. */
  | "forbidden"
  /** The stream is not remembered: it was closed long ago, or never opened. */
  | "unknown";

/** Remembers how the latest streams of a connection ended, to judge frames that arrive later. */
export class ClosedStreams {
  private readonly ended: number[] = [];
  private nextEnded = 0;
  private cutOff: Set<number> | undefined = undefined;

  /** Remembers a stream whose side the peer has ended, or that it has reset. */
  addEnded(streamId: number): void {
    this.ended[this.nextEnded] = streamId;
    this.nextEnded = (this.nextEnded + 1) % maxEnded;
  }

  /** Remembers a stream that this end has reset before the peer had ended its side. */
  addCutOff(streamId: number): void {
    this.cutOff ??= new Set();
    this.cutOff.add(streamId);
    if (this.cutOff.size <= maxCutOff) return;
    for (const oldest of this.cutOff) {
      this.cutOff.delete(oldest);
      break;
    }
  }

  /** Called when the peer has ended a stream that this end has reset. */
  endCutOff(streamId: number): void {
    if (this.cutOff?.delete(streamId) === true) this.addEnded(streamId);
  }

  of(streamId: number): Afterlife {
    if (this.cutOff?.has(streamId) === true) return "ignored";
    return this.ended.includes(streamId) ? "forbidden" : "unknown";
  }
}
