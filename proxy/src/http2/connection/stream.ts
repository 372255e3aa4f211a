import type { HeaderList } from "../../message/message.ts";
import { SendingStream } from "./sending-stream.ts";

/** The origin of a reset: the peer, this end because of a fault of the peer, or this end for another reason. */
export type ResetCause = "peer" | "fault" | "own";

/** A stream of a connection: both halves, and the callbacks of the connection. */
export abstract class Http2Stream extends SendingStream {
  /** True once the peer has sent END_STREAM, or has reset the stream. */
  remoteEnded = false;
  /** The bytes that the peer may still send. */
  receiveWindow: number;
  /** Accepted bytes for which the window of the peer has not been renewed yet. */
  takenBytes = 0;

  constructor(id: number, sendWindow: number, receiveWindow: number) {
    super(id, sendWindow);
    this.receiveWindow = receiveWindow;
  }

  /** Octets of content that have not arrived yet; infinite if no length was declared. */
  get awaitedBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Called at the start of a DATA frame, which may be empty. Returns false if the message is malformed. */
  mayHaveData(): boolean {
    return true;
  }

  /**
   * Called with a piece of content, from `start` to `end`, which is only valid during the call. Receivers report
   * accepted bytes to the connection by `take`. Returns false if the message is malformed.
   */
  abstract onContent(bytes: Buffer, start: number, end: number): boolean;
  /** Called on END_STREAM, with the trailers if there are any. Returns false if the message is malformed. */
  abstract onRemoteEnd(trailers: HeaderList | undefined): boolean;
  /** Called when the stream was reset with `code`, or ends with its connection. */
  abstract onReset(cause: ResetCause, code: number): void;
}
