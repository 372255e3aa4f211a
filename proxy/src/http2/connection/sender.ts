import type { Transport } from "../../sockets/transport.ts";
import { FrameOutput } from "../frames/frame-output.ts";
import {
  frameFlag,
  frameHeadBytes,
  frameType,
  initialWindowBytes,
  maxWindowBytes,
} from "../frames/frame-types.ts";
import { putNoTable } from "../hpack/encoder.ts";
import { initialPeerSettings, type PeerSettings } from "../frames/settings-frame.ts";
import { flushLater } from "../../sockets/flush-later.ts";
import { maxContentBytes, type SendingStream } from "./sending-stream.ts";

/** The bytes that may wait for the socket of a connection before its streams have to wait. */
const maxWaitingBytes = 65_536;

/** The state of a stream after it was given a turn. */
type Turn = "done" | "goes-on" | "waits";

/**
 * Sends the streams of a connection in frames. Each stream gets its turn as far as the windows of the peer and the
 * socket allow, and all frames of a turn of the event loop are sent in one write.
 */
export class Sender {
  readonly output: FrameOutput;
  readonly peer: PeerSettings = initialPeerSettings();
  /** The bytes of content that the peer still accepts on the whole connection. */
  window: number = initialWindowBytes;
  private readonly transport: Transport;
  /** The streams that may have something to send, in order. */
  private ready: SendingStream[] = [];
  /** The streams that wait for the connection, not for their own window. */
  private stopped: SendingStream[] = [];
  /** The streams whose content is all in frames. */
  private emptied: SendingStream[] = [];
  private isFlushDue = false;
  /** True if some stream has a priority other than the default. */
  private hasPriorities = false;
  /** True if the next block has to confirm that there is no dynamic table. */
  private owesTableSize = false;

  constructor(transport: Transport) {
    this.transport = transport;
    this.output = new FrameOutput(transport);
  }

  /** The bytes of frames that wait for the socket. */
  get waitingBytes(): number {
    return this.output.waitingBytes;
  }

  /** Schedules a stream that has something to send; it gets its turn at the end of this turn of the event loop. */
  schedule(stream: SendingStream): void {
    if (!stream.isQueued) {
      if (!stream.isOrdinary) this.hasPriorities = true;
      stream.isQueued = true;
      this.ready.push(stream);
    }
    this.flushLater();
  }

  /** Schedules a write of everything in `output` for the end of this turn of the event loop. */
  flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    flushLater(this);
  }

  /** Called when the priority of a stream has changed. */
  reorder(): void {
    this.hasPriorities = true;
  }

  /** Puts content of a stream into frames immediately, as far as possible, unless waiting streams may precede it. */
  sendNow(stream: SendingStream): void {
    if (this.hasPriorities && this.ready.length + this.stopped.length > 0) return this.schedule(stream);
    let turn: Turn = "goes-on";
    while (turn === "goes-on") turn = this.makesRoom() ? this.sendFrame(stream) : "waits";
    if (turn === "waits" && !stream.isQueued) {
      stream.isQueued = true;
      this.stopped.push(stream);
    }
    this.flushLater();
  }

  /** Sends everything that can be sent. */
  flush(): void {
    this.isFlushDue = false;
    do {
      this.sendReady();
      this.output.flush();
      // A socket that accepted everything immediately has room for more.
    } while (this.ready.length > 0 || (this.window > 0 && this.hasRoom && this.wakeStopped()));
    if (this.stopped.length > 0 && !this.hasRoom) this.transport.whenTaken();
    this.tellEmptied();
  }

  /** Called when the connection has room again, in its window or in its socket. */
  resume(): void {
    if (this.wakeStopped()) this.flushLater();
  }

  /** Enlarges the window of the connection; returns false if it becomes too large (RFC 9113 6.9.1). */
  enlarge(by: number): boolean {
    this.window += by;
    if (this.window > maxWindowBytes) return false;
    this.resume();
    return true;
  }

  /** Called when the peer has announced the size of its dynamic table. */
  tableLimited(): void {
    this.owesTableSize = true;
  }

  /** Whether more frames may be assembled: not while the transport holds writes back, to avoid a copy of them. */
  private get hasRoom(): boolean {
    return this.output.waitingBytes < maxWaitingBytes && !this.transport.holdsBack;
  }

  /** Reports whether more frames may be assembled, after writing the assembled ones if necessary. */
  private makesRoom(): boolean {
    if (this.hasRoom) return true;
    this.output.flush();
    return this.hasRoom;
  }

  private wakeStopped(): boolean {
    if (this.stopped.length === 0) return false;
    this.ready.push(...this.stopped);
    this.stopped = [];
    return true;
  }

  private sendReady(): void {
    const { ready } = this;
    if (this.hasPriorities) ready.sort(byPriority);
    for (let i = 0; i < ready.length; i++) {
      if (!this.makesRoom()) {
        // The remaining streams wait, too; with TLS these are nearly all streams, after each write.
        this.stopped.push(...(i === 0 ? ready : ready.slice(i)));
        break;
      }
      const stream = ready[i] as SendingStream;
      const turn = this.sendFrame(stream);
      if (turn === "goes-on") this.sendAgain(stream, i + 1);
      else if (turn === "waits") this.stopped.push(stream);
      else stream.isQueued = false;
    }
    ready.length = 0;
  }

  /** Queues a stream again, after those with the same priority. */
  private sendAgain(stream: SendingStream, from: number): void {
    const { ready } = this;
    const last = ready.at(-1) as SendingStream;
    if (!this.hasPriorities || byPriority(last, stream) <= 0) ready.push(stream);
    else {
      let at = from;
      while (byPriority(ready[at] as SendingStream, stream) <= 0) at++;
      ready.splice(at, 0, stream);
    }
  }

  private sendFrame(stream: SendingStream): Turn {
    if (stream.isClosed || stream.localEnded) return "done";
    if (stream.hasHead) {
      this.sendHead(stream);
      if (stream.localEnded) return "done";
    }
    if (stream.heldBytes > 0) return this.sendContent(stream);
    if (!stream.endsNow) return "done";
    if (stream.hasTrailers) this.sendTrailers(stream);
    else {
      this.output.frame(frameType.data, frameFlag.endStream, stream.id);
      this.localEnd(stream);
    }
    return "done";
  }

  private sendContent(stream: SendingStream): Turn {
    const { output } = this;
    const length = Math.min(stream.heldBytes, stream.sendWindow, this.window, maxContentBytes);
    if (length <= 0) return stream.sendWindow <= 0 ? "done" : "waits";
    output.reserve(frameHeadBytes + length);
    const isAll = length === stream.heldBytes;
    const isLast = isAll && stream.endsAfterContent;
    const at = output.putHead(output.at, length, frameType.data, isLast ? frameFlag.endStream : 0, stream.id);
    stream.takeContent(output.bytes, at, length);
    output.at = at + length;
    stream.sendWindow -= length;
    this.window -= length;
    if (isLast) {
      this.localEnd(stream);
      return "done";
    }
    if (isAll) this.emptied.push(stream);
    return isAll && !stream.endsNow ? "done" : "goes-on";
  }

  private sendHead(stream: SendingStream): void {
    const { output } = this;
    const isLast = stream.endsNow && !stream.hasTrailers;
    const at = this.beginBlock(stream.maxHeadBytes);
    this.endBlock(stream, stream.putHead(output.bytes, at), isLast);
    stream.onHeadFramed();
    if (isLast) this.localEnd(stream);
  }

  private sendTrailers(stream: SendingStream): void {
    const at = this.beginBlock(stream.maxTrailerBytes);
    this.endBlock(stream, stream.putTrailers(this.output.bytes, at), true);
    this.localEnd(stream);
  }

  /** Sends a block that does not end the stream: an informational head. */
  sendBlock(stream: SendingStream, maxBytes: number, put: (into: Buffer, at: number) => number): void {
    const at = this.beginBlock(maxBytes);
    this.endBlock(stream, put(this.output.bytes, at), false);
    this.flushLater();
  }

  /** Reserves room for a block of at most `maxBytes`; returns the position of its fields. */
  private beginBlock(maxBytes: number): number {
    const { output } = this;
    output.reserve(frameHeadBytes + 1 + maxBytes);
    const start = output.at + frameHeadBytes;
    if (!this.owesTableSize) return start;
    return putNoTable(output.bytes, start);
  }

  /** Completes the frame of a block. A block larger than a frame continues in CONTINUATION frames (RFC 9113 6.10). */
  private endBlock(stream: SendingStream, end: number, isLast: boolean): void {
    const { output } = this;
    this.owesTableSize = false;
    const start = output.at + frameHeadBytes;
    const length = end - start;
    const lastFlag = isLast ? frameFlag.endStream : 0;
    if (length <= maxContentBytes) {
      output.putHead(output.at, length, frameType.headers, frameFlag.endHeaders | lastFlag, stream.id);
      output.at = end;
      return;
    }
    const block = Buffer.from(output.bytes.subarray(start, end));
    for (let at = 0; at < length; at += maxContentBytes) {
      const part = block.subarray(at, at + maxContentBytes);
      const flags = (at === 0 ? lastFlag : 0) | (at + part.length === length ? frameFlag.endHeaders : 0);
      output.frame(at === 0 ? frameType.headers : frameType.continuation, flags, stream.id, part);
    }
  }

  private localEnd(stream: SendingStream): void {
    stream.localEnded = true;
    stream.onLocalEnd();
  }

  /** Notifies emptied streams. Not called while frames are assembled, because the callbacks hand over more content. */
  private tellEmptied(): void {
    if (this.emptied.length === 0) return;
    const streams = this.emptied;
    this.emptied = [];
    for (const stream of streams) if (!stream.isClosed && stream.heldBytes === 0) stream.onAllFramed();
  }
}

/** By urgency; then non-incremental streams in the order of their requests; then incremental ones (RFC 9218 10). */
const byPriority = (a: SendingStream, b: SendingStream): number =>
  a.urgency - b.urgency || Number(a.takesTurns) - Number(b.takesTurns) || (a.takesTurns ? 0 : a.id - b.id);
