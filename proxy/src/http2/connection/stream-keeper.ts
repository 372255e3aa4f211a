import type { Transport } from "../../sockets/transport.ts";
import { putUint32 } from "../frames/frame-output.ts";
import { errorCode, frameFlag, frameType } from "../frames/frame-types.ts";
import { judgeField } from "../field-tags.ts";
import type { TrailerRules } from "../trailer-fields.ts";
import { type FieldSink, HpackDecoder } from "../hpack/decoder.ts";
import { ClosedStreams } from "./closed-streams.ts";
import { FrameGuard, type PeerFlood } from "./frame-guard.ts";
import { ReceiveWindow } from "./receive-window.ts";
import { Sender } from "./sender.ts";
import type { Http2Stream, ResetCause } from "./stream.ts";

export type ConnectionOptions = {
  /** True if this end is the server, false if it is the client. */
  readonly asServer: boolean;
  /** The most unread bytes of all bodies of the connection, and of one stream. */
  readonly windowBytes: number;
  readonly streamWindowBytes: number;
  readonly trailerRules: TrailerRules;
  /** The most streams that the peer may have open. */
  readonly maxPeerStreams: number;
};

/** The sink for blocks whose fields are not needed. */
const noFields: FieldSink = { onField: () => undefined };

/** The streams of a connection, the ways in which they and the connection end, and the receive windows. */
export abstract class StreamKeeper<Stream extends Http2Stream> {
  readonly sender: Sender;
  protected readonly transport: Transport;
  protected readonly streams = new Map<number, Stream>();
  protected readonly closedStreams = new ClosedStreams();
  protected readonly guard: FrameGuard;
  /** The time of the last read, in milliseconds of the awake clock. */
  protected nowMs = 0;
  /** True once the connection has ended, normally or for a fault: nothing is processed any more. */
  protected isOver = false;
  protected readonly options: ConnectionOptions;
  private readonly decoder = new HpackDecoder(judgeField);
  /** The window for the content of all streams. */
  protected readonly window: ReceiveWindow;

  constructor(transport: Transport, options: ConnectionOptions) {
    this.transport = transport;
    this.options = options;
    this.guard = new FrameGuard(options);
    this.window = new ReceiveWindow(options.windowBytes);
    this.sender = new Sender(transport);
  }

  protected abstract onFlood(flood: PeerFlood): void;
  /** Called on a connection error of the peer, before the connection ends for it. */
  protected abstract onFatal(reason: string): void;
  /** Called when a stream has been removed from the open ones. */
  protected abstract onStreamClosed(stream: Stream): void;
  /** Ends the connection with all its streams, with an error code. */
  abstract end(code: number): void;

  /** Called when `bytes` of the content of a stream have been accepted, so that the peer may send as many more. */
  take(stream: Stream, bytes: number): void {
    this.takeOfConnection(bytes);
    stream.takenBytes += bytes;
    if (stream.remoteEnded || stream.isClosed || stream.takenBytes * 2 < this.options.streamWindowBytes)
      return;
    // The rest of the content fits into the current window, which stays open after it: some peers send the empty DATA
    // frame that ends a stream only then, although RFC 9113 6.9.1 lets them send it in any case.
    if (stream.awaitedBytes < stream.receiveWindow) return;
    stream.receiveWindow += stream.takenBytes;
    this.sender.output.frameOf(frameType.windowUpdate, stream.id, stream.takenBytes);
    stream.takenBytes = 0;
    this.sender.flushLater();
  }

  /** Ends a stream with RST_STREAM. */
  reset(stream: Stream, code: number, cause: ResetCause = "own"): void {
    if (stream.isClosed) return;
    this.sendReset(stream.id, code);
    this.close(stream);
    stream.onReset(cause, code);
  }

  /** Closes a stream, because both sides have ended it or one of them has reset it. */
  protected close(stream: Stream): void {
    if (stream.isClosed) return;
    stream.isClosed = true;
    this.streams.delete(stream.id);
    if (stream.remoteEnded) this.closedStreams.addEnded(stream.id);
    else this.cutOff(stream.id, stream.receiveWindow);
    this.onStreamClosed(stream);
  }

  /** Remembers a closed stream on which the peer may still be sending, as much as its window allows. */
  protected cutOff(streamId: number, windowBytes: number): void {
    this.closedStreams.addCutOff(streamId);
    this.window.cutOff(windowBytes);
  }

  protected sendReset(streamId: number, code: number): void {
    this.sender.output.frameOf(frameType.rstStream, streamId, code);
    this.sender.flushLater();
  }

  protected sendGoaway(lastStreamId: number, code: number): void {
    const payload = new Uint8Array(8);
    putUint32(payload, putUint32(payload, 0, lastStreamId), code);
    this.sender.output.frame(frameType.goaway, 0, 0, payload);
    this.sender.flushLater();
  }

  /** Decodes a header block; an invalid one ends the connection and returns false. */
  protected decode(bytes: Buffer, start: number, end: number, sink: FieldSink): boolean {
    if (this.decoder.decode(bytes, start, end, sink)) return true;
    return this.onFault(errorCode.compressionError, "header block that cannot be decoded");
  }

  /** Reads and ignores a header block on a closed stream. It must be decoded to keep the dynamic table in sync. */
  protected ignoreHeaders(
    streamId: number,
    flags: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): boolean {
    if (this.closedStreams.of(streamId) === "forbidden")
      return this.onFault(errorCode.streamClosed, "HEADERS on a closed stream");
    if (!this.decode(bytes, start, end, noFields)) return false;
    if ((flags & frameFlag.endStream) !== 0) this.closedStreams.endCutOff(streamId);
    return this.punish(this.guard.countMinor(this.nowMs));
  }

  /** Resets a stream for a fault of the peer; returns false if the peer has made too many. */
  protected blame(stream: Stream, code: number): boolean {
    this.reset(stream, code, "fault");
    return this.punish(this.guard.countReset(this.nowMs));
  }

  /** Handles a flood, if there is one; returns whether reading may continue. */
  protected punish(flood: PeerFlood | undefined): boolean {
    if (flood !== undefined) this.onFlood(flood);
    return !this.isOver;
  }

  /** Ends the connection for a fault of the peer (RFC 9113 5.4.1). */
  onFault(code: number, reason: string): false {
    if (this.isOver) return false;
    if (code === errorCode.enhanceYourCalm) this.onFlood("frame-flood");
    else this.onFatal(reason);
    if (!this.isOver) this.end(code);
    return false;
  }

  protected takeOfConnection(bytes: number): void {
    const increment = this.window.take(bytes);
    if (increment === 0) return;
    this.sender.output.frameOf(frameType.windowUpdate, 0, increment);
    this.sender.flushLater();
  }
}
