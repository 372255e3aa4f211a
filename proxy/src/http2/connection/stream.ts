import type { HeaderList } from "../../message/message.ts";
import { SendingStream } from "./sending-stream.ts";

/** Who ends a stream before its time: the peer, this end for a fault of the peer, or this end for a reason of its own. */
export type ResetCause = "peer" | "fault" | "own";

/** A stream of a connection: both halves, and the callbacks of the connection. */
export abstract class Http2Stream extends SendingStream {
  /** The peer has sent END_STREAM. */
  remoteEnded = false;
  /** What the peer may still send. */
  receiveWindow: number;
  /** Taken, and not given back to the peer's window yet. */
  takenBytes = 0;

  constructor(id: number, sendWindow: number, receiveWindow: number) {
    super(id, sendWindow);
    this.receiveWindow = receiveWindow;
  }

  /** Octets of content that are still to come; infinite where no length was declared. */
  get awaitedBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** A DATA frame begins, which may be empty. False: the message is malformed. */
  mayHaveData(): boolean {
    return true;
  }

  /**
   * A piece of content: what was read, from `start` to `end`, good until this returns. Receivers that have taken some report it to the
   * connection by `take`. False: the message is malformed.
   */
  abstract onContent(bytes: Buffer, start: number, end: number): boolean;
  /** END_STREAM, with the trailers where there are some. False: the message is malformed. */
  abstract onRemoteEnd(trailers: HeaderList | undefined): boolean;
  /** The stream was reset with `code`, or ends with its connection. */
  abstract onReset(cause: ResetCause, code: number): void;
}
