import type { Transport } from "../../sockets/transport.ts";
import { awake } from "../../timing/awake-clock.ts";
import { type FrameHandler, FrameReader, uint32At } from "../frames/frame-reader.ts";
import { faultOfFrame } from "../frames/control-frames.ts";
import {
  connectionPreface,
  errorCode,
  frameFlag,
  frameType,
  initialFrameBytes,
  maxWindowBytes,
} from "../frames/frame-types.ts";
import { readSettings } from "../frames/settings-frame.ts";
import type { HeaderList } from "../../message/message.ts";
import { type Priority, readPriority } from "../priority.ts";
import { TrailerFields } from "../trailer-fields.ts";
import { EarlyPriorities } from "./early-priorities.ts";
import type { PeerFlood } from "./frame-guard.ts";
import { HeaderBlock } from "./header-block.ts";
import type { Http2Stream } from "./stream.ts";
import { type ConnectionOptions, StreamKeeper } from "./stream-keeper.ts";

/**
 * One end of an HTTP/2 connection (RFC 9113), with the parts that servers and clients share: frames and their faults,
 * settings, windows, the states of streams, and protection against floods.
 */
export abstract class Http2Connection<Stream extends Http2Stream>
  extends StreamKeeper<Stream>
  implements FrameHandler
{
  protected readonly reader: FrameReader;
  protected readonly block = new HeaderBlock();
  /** When the SETTINGS that are not acknowledged yet were sent, in milliseconds of the awake clock; 0 for none. */
  protected settingsSinceMs = 0;
  /** True once the SETTINGS of the peer have arrived. */
  protected hasSettings = false;
  /** The stream of the DATA frame that is being read, and whether the frame has content. */
  private receiving: Stream | undefined = undefined;
  private hasContent = false;
  protected readonly earlyPriorities = new EarlyPriorities();

  constructor(transport: Transport, options: ConnectionOptions) {
    super(transport, options);
    this.reader = new FrameReader(this, { asServer: options.asServer, maxFrameBytes: initialFrameBytes });
  }

  /** Called with a header block, for an open, closed or new stream. Returns false if nothing more may be read. */
  protected abstract onHeaders(
    streamId: number,
    flags: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): boolean;
  /** Reports whether a stream has not been opened yet. */
  protected abstract isIdle(streamId: number): boolean;
  /** Called when SETTINGS of the peer have been applied, the first or later ones. */
  protected abstract onPeerSettings(): void;
  /** Called on a GOAWAY of the peer, which has not processed streams above `lastStreamId`. */
  protected abstract onGoaway(code: number, lastStreamId: number): void;
  protected abstract onPingAck(bytes: Buffer, start: number): boolean;

  /** Sends the preface (as a client), the SETTINGS, and the increment to the full window of the connection. */
  protected begin(settings: Uint8Array): void {
    const { output } = this.sender;
    if (!this.options.asServer) output.put(connectionPreface);
    output.frame(frameType.settings, 0, 0, settings);
    output.frameOf(frameType.windowUpdate, 0, this.window.open());
    this.settingsSinceMs = awake.nowMs;
    this.sender.flushLater();
  }

  /** Called when everything that was written has been accepted by the operating system. */
  taken(): void {
    this.sender.resume();
  }

  /** Processes the bytes of one read. */
  protected read(bytes: Buffer): void {
    this.nowMs = awake.nowMs;
    this.reader.read(bytes);
  }

  onDataFrame(streamId: number, length: number): boolean {
    if (!this.mayCome(frameType.data, streamId)) return false;
    if (streamId === 0) return this.onFault(errorCode.protocolError, "DATA on stream 0");
    if (!this.window.receive(length))
      return this.onFault(errorCode.flowControlError, "more DATA than the window");
    this.hasContent = false;
    const stream = this.streams.get(streamId);
    this.receiving = stream;
    if (stream === undefined) return this.mayComeLate(streamId, length);
    if (stream.remoteEnded) return this.onFault(errorCode.streamClosed, "DATA after END_STREAM");
    if (length > stream.receiveWindow) return this.blame(stream, errorCode.flowControlError);
    stream.receiveWindow -= length;
    return stream.mayHaveData() || this.blame(stream, errorCode.protocolError);
  }

  onContent(bytes: Buffer, start: number, end: number): boolean {
    const stream = this.receiving;
    this.hasContent = true;
    if (stream === undefined || stream.isClosed) this.takeOfConnection(end - start);
    else if (!stream.onContent(bytes, start, end)) {
      this.takeOfConnection(end - start);
      return this.blame(stream, errorCode.protocolError);
    }
    return !this.isOver;
  }

  onDataEnd(streamId: number, overheadBytes: number, endStream: boolean): boolean {
    const stream = this.receiving;
    this.receiving = undefined;
    const isOpen = stream !== undefined && !stream.isClosed;
    if (this.hasContent) this.guard.endEmpty();
    else if (!(endStream && isOpen) && !this.punish(this.countUseless(endStream))) return false;
    if (!isOpen) {
      this.takeOfConnection(overheadBytes);
      if (endStream) this.closedStreams.endCutOff(streamId);
      return !this.isOver;
    }
    if (overheadBytes > 0) this.take(stream, overheadBytes);
    if (!endStream) return true;
    return this.endRemote(stream) ? !this.isOver : this.blame(stream, errorCode.protocolError);
  }

  /** Counts a DATA frame without content that ends no open stream. */
  private countUseless(endStream: boolean): PeerFlood | undefined {
    return endStream ? this.guard.countMinor(this.nowMs) : this.guard.countEmpty(this.nowMs);
  }

  /** Called with a header block after the head of a message: its trailers, which must end it (RFC 9113 8.1). */
  protected onTrailers(
    stream: Stream,
    endStream: boolean,
    bytes: Buffer,
    start: number,
    end: number,
  ): boolean {
    const fields = new TrailerFields(this.options.trailerRules);
    if (!this.decode(bytes, start, end, fields)) return false;
    const trailers = fields.finish();
    if (!endStream || trailers === undefined) return this.onBadTrailers(stream);
    if (this.endRemote(stream, trailers.length === 0 ? undefined : trailers)) return !this.isOver;
    return this.blame(stream, errorCode.protocolError);
  }

  /** Called for trailers that are malformed or too large, or do not end their message. */
  protected onBadTrailers(stream: Stream): boolean {
    return this.blame(stream, errorCode.protocolError);
  }

  /** Called on END_STREAM of the peer; returns false if the stream reports a malformed message. */
  protected endRemote(stream: Stream, trailers?: HeaderList): boolean {
    stream.remoteEnded = true;
    this.guard.endEmpty();
    const isSound = stream.onRemoteEnd(trailers);
    if (isSound && stream.localEnded) this.close(stream);
    return isSound;
  }

  onUnknownFrame(): boolean {
    if (this.block.isOpen) return this.onFault(errorCode.protocolError, "header block interrupted");
    return this.punish(this.guard.countControl(this.nowMs));
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Buffer, start: number, end: number): boolean {
    if (!this.mayCome(type, streamId)) return false;
    const fault = faultOfFrame(type, streamId, end - start);
    if (fault !== undefined) return this.onFault(fault.code, fault.reason);
    switch (type) {
      case frameType.headers:
        return this.onHeadersFrame(flags, streamId, bytes, start, end);
      case frameType.continuation:
        return this.onContinuation(flags, bytes, start, end);
      case frameType.windowUpdate:
        return this.onWindowUpdate(streamId, bytes, start);
      case frameType.rstStream:
        return this.onRstStream(streamId, bytes, start);
      case frameType.settings:
        return this.onSettings(flags, bytes, start, end);
      case frameType.ping:
        return this.onPing(flags, bytes, start, end);
      case frameType.priority:
        return this.onPriority(streamId, bytes, start, end);
      case frameType.goaway:
        return this.onGoawayFrame(bytes, start);
      case frameType.priorityUpdate:
        return this.onPriorityUpdate(bytes, start, end);
      default:
        return this.onFault(errorCode.protocolError, "PUSH_PROMISE");
    }
  }

  /** Reports whether a frame of this type is allowed now: SETTINGS must be first, and a header block uninterrupted. */
  private mayCome(type: number, streamId: number): boolean {
    if (!this.hasSettings && type !== frameType.settings) {
      return this.onFault(errorCode.protocolError, "no SETTINGS first");
    }
    return (
      this.block.allows(type, streamId) || this.onFault(errorCode.protocolError, "header block interrupted")
    );
  }

  /** Reports whether DATA is allowed for a stream that is not open: only if it may have crossed a reset by this end. */
  private mayComeLate(streamId: number, length: number): boolean {
    if (this.isIdle(streamId)) return this.onFault(errorCode.protocolError, "DATA on an idle stream");
    if (this.closedStreams.of(streamId) !== "forbidden" && this.window.receiveLate(length)) return true;
    return this.onFault(errorCode.streamClosed, "DATA on a closed stream");
  }

  private onHeadersFrame(flags: number, streamId: number, bytes: Buffer, from: number, to: number): boolean {
    const { block } = this;
    const fault = block.find(streamId, flags, bytes, from, to);
    if (fault !== undefined) return this.onFault(fault.code, fault.reason);
    const { start, end } = block;
    if ((flags & frameFlag.endHeaders) !== 0) return this.onHeaders(streamId, flags, bytes, start, end);
    block.begin(streamId, flags, bytes);
    return true;
  }

  private onContinuation(flags: number, bytes: Buffer, start: number, end: number): boolean {
    const { block } = this;
    if (!block.add(bytes, start, end))
      return this.onFault(errorCode.enhanceYourCalm, "header block too long");
    if ((flags & frameFlag.endHeaders) === 0) return true;
    const whole = block.finish();
    return this.onHeaders(block.streamId, block.flags, whole, 0, whole.length);
  }

  private onWindowUpdate(streamId: number, bytes: Buffer, start: number): boolean {
    const by = uint32At(bytes, start) & 0x7fff_ffff;
    if (streamId === 0) {
      if (by === 0) return this.onFault(errorCode.protocolError, "WINDOW_UPDATE of 0");
      if (!this.sender.enlarge(by)) return this.onFault(errorCode.flowControlError, "window too large");
      return this.punish(this.guard.countMinor(this.nowMs));
    }
    const stream = this.streams.get(streamId);
    if (stream === undefined) {
      if (this.isIdle(streamId))
        return this.onFault(errorCode.protocolError, "WINDOW_UPDATE on an idle stream");
    } else if (by === 0) return this.blame(stream, errorCode.protocolError);
    else {
      stream.sendWindow += by;
      if (stream.sendWindow > maxWindowBytes) return this.blame(stream, errorCode.flowControlError);
      if (stream.heldBytes > 0) this.sender.schedule(stream);
    }
    return this.punish(this.guard.countMinor(this.nowMs));
  }

  private onRstStream(streamId: number, bytes: Buffer, start: number): boolean {
    const stream = this.streams.get(streamId);
    if (stream === undefined) {
      if (this.isIdle(streamId)) return this.onFault(errorCode.protocolError, "RST_STREAM on an idle stream");
      this.closedStreams.endCutOff(streamId);
      return this.punish(this.guard.countMinor(this.nowMs));
    }
    const isEarly = !stream.endsNow;
    stream.remoteEnded = true;
    this.close(stream);
    stream.onReset("peer", uint32At(bytes, start));
    return isEarly ? this.punish(this.guard.countReset(this.nowMs)) : !this.isOver;
  }

  private onSettings(flags: number, bytes: Buffer, start: number, end: number): boolean {
    if ((flags & frameFlag.ack) !== 0) {
      if (end > start) return this.onFault(errorCode.frameSizeError, "SETTINGS acknowledged with entries");
      if (!this.hasSettings) return this.onFault(errorCode.protocolError, "no SETTINGS first");
      if (this.settingsSinceMs === 0) return this.punish(this.guard.countControl(this.nowMs));
      this.settingsSinceMs = 0;
      return true;
    }
    this.hasSettings = true;
    const { peer } = this.sender;
    const before = peer.initialWindowBytes;
    const fault = readSettings(peer, bytes, start, end, this.options);
    if (fault !== undefined) return this.onFault(fault, "SETTINGS that are not allowed");
    if (peer.isTableLimited) this.sender.tableLimited();
    peer.isTableLimited = false;
    if (!this.moveWindows(peer.initialWindowBytes - before)) {
      return this.onFault(errorCode.flowControlError, "window too large");
    }
    this.sender.output.frame(frameType.settings, frameFlag.ack, 0);
    this.sender.flushLater();
    this.onPeerSettings();
    return this.punish(this.guard.countControl(this.nowMs));
  }

  /** Adjusts the windows of all open streams to a changed initial window (RFC 9113 6.9.2). */
  private moveWindows(by: number): boolean {
    if (by === 0) return true;
    for (const stream of this.streams.values()) {
      stream.sendWindow += by;
      if (stream.sendWindow > maxWindowBytes) return false;
      if (by > 0 && stream.heldBytes > 0) this.sender.schedule(stream);
    }
    return true;
  }

  private onPing(flags: number, bytes: Buffer, start: number, end: number): boolean {
    if ((flags & frameFlag.ack) === 0) {
      this.sender.output.frame(frameType.ping, frameFlag.ack, 0, bytes.subarray(start, end));
      this.sender.flushLater();
    } else if (this.onPingAck(bytes, start)) return true;
    return this.punish(this.guard.countPing(this.nowMs));
  }

  /** Checks a priority of RFC 7540, which is otherwise ignored (RFC 9113 5.3.2). */
  private onPriority(streamId: number, bytes: Buffer, start: number, end: number): boolean {
    if (end - start !== 5) {
      const stream = this.streams.get(streamId);
      if (stream !== undefined) return this.blame(stream, errorCode.frameSizeError);
      return this.onFault(errorCode.frameSizeError, "PRIORITY of a wrong size");
    }
    if ((uint32At(bytes, start) & 0x7fff_ffff) === streamId) {
      return this.onFault(errorCode.protocolError, "a stream that depends on itself");
    }
    return this.punish(this.guard.countMinor(this.nowMs));
  }

  /** Applies a priority of RFC 9218 7.1. A value that cannot be parsed changes nothing. */
  private onPriorityUpdate(bytes: Buffer, start: number, end: number): boolean {
    if (!this.options.asServer) return this.onFault(errorCode.protocolError, "PRIORITY_UPDATE of a server");
    const streamId = uint32At(bytes, start) & 0x7fff_ffff;
    if (streamId === 0) return this.onFault(errorCode.protocolError, "PRIORITY_UPDATE for stream 0");
    const priority = readPriority(bytes.toString("latin1", start + 4, end));
    if (priority !== null && !this.prioritise(streamId, priority)) return false;
    return this.punish(this.guard.countMinor(this.nowMs));
  }

  /** Sets the priority of a stream, which often arrives right before it (RFC 9218 7.1). Returns false on an error. */
  private prioritise(streamId: number, priority: Priority): boolean {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) {
      stream.prioritise(priority);
      this.sender.reorder();
    } else if (this.isIdle(streamId)) {
      if (streamId % 2 === 0) return this.onFault(errorCode.protocolError, "PRIORITY_UPDATE of a push");
      const most = this.options.maxPeerStreams - this.streams.size;
      // A client does not know the limit until it has read the SETTINGS.
      if (!this.earlyPriorities.add(streamId, priority, most) && this.settingsSinceMs === 0)
        return this.onFault(errorCode.protocolError, "PRIORITY_UPDATE for too many streams");
    }
    return true;
  }

  private onGoawayFrame(bytes: Buffer, start: number): boolean {
    this.onGoaway(uint32At(bytes, start + 4), uint32At(bytes, start) & 0x7fff_ffff);
    return this.punish(this.guard.countMinor(this.nowMs));
  }
}
