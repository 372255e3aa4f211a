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

/** Most that waits for the socket of a connection before its streams have to wait. */
const maxWaitingBytes = 65_536;

/** What becomes of a stream that was asked for a frame. */
type Turn = "done" | "goes-on" | "waits";

/**
 * What the streams of a connection send, in frames: each stream in turn as far as the windows of the peer and the socket allow,
 * all that a turn of the event loop brings in one write.
 */
export class Sender {
  readonly output: FrameOutput;
  readonly peer: PeerSettings = initialPeerSettings();
  /** What the peer still takes on the whole connection. */
  window: number = initialWindowBytes;
  private readonly transport: Transport;
  /** Those that may have something to send, in turn. */
  private ready: SendingStream[] = [];
  /** Those that wait for the connection, not for their own window. */
  private stopped: SendingStream[] = [];
  /** Those whose content is all in frames. */
  private emptied: SendingStream[] = [];
  private isFlushDue = false;
  /** Some stream has asked to go before or behind others. */
  private hasPriorities = false;
  /** The next block has to say that there is no table. */
  private owesTableSize = false;

  constructor(transport: Transport) {
    this.transport = transport;
    this.output = new FrameOutput(transport);
  }

  /** Content that waits for the socket. */
  get waitingBytes(): number {
    return this.output.waitingBytes;
  }

  /** The stream has something to send; it is asked for it at the end of the turn. */
  schedule(stream: SendingStream): void {
    if (!stream.isQueued) {
      if (!stream.isOrdinary) this.hasPriorities = true;
      stream.isQueued = true;
      this.ready.push(stream);
    }
    this.flushLater();
  }

  /** Has what was put into `output` written at the end of the turn. */
  flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    flushLater(this);
  }

  /** The priority of a stream has changed. */
  reorder(): void {
    this.hasPriorities = true;
  }

  /** Puts what one stream has into frames at once, as far as that goes, unless others that wait may have to go before it. */
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
      // A socket that took it all at once has room for more.
    } while (this.ready.length > 0 || (this.window > 0 && this.hasRoom && this.wakeStopped()));
    if (this.stopped.length > 0 && !this.hasRoom) this.transport.whenTaken();
    this.tellEmptied();
  }

  /** The connection has room again: in its window, or in its socket. */
  resume(): void {
    if (this.wakeStopped()) this.flushLater();
  }

  /** Takes an increment of the connection's window. False: it grows too large (RFC 9113 6.9.1). */
  enlarge(by: number): boolean {
    this.window += by;
    if (this.window > maxWindowBytes) return false;
    this.resume();
    return true;
  }

  /** The peer has said how large its table may be. */
  tableLimited(): void {
    this.owesTableSize = true;
  }

  /** Frames that would be held back are put together in the turn in which they leave, so that they are not copied. */
  private get hasRoom(): boolean {
    return this.output.waitingBytes < maxWaitingBytes && !this.transport.holdsBack;
  }

  /** Whether more may be put together, once what has been is written. */
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
        // All others wait as well: with TLS that is nearly all of them, after each write.
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

  /** Behind those that have the same priority. */
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

  /** A block that belongs to no end: an informational head. */
  sendBlock(stream: SendingStream, maxBytes: number, put: (into: Buffer, at: number) => number): void {
    const at = this.beginBlock(maxBytes);
    this.endBlock(stream, put(this.output.bytes, at), false);
    this.flushLater();
  }

  /** Answers where the fields of a block of at most `maxBytes` go. */
  private beginBlock(maxBytes: number): number {
    const { output } = this;
    output.reserve(frameHeadBytes + 1 + maxBytes);
    const start = output.at + frameHeadBytes;
    if (!this.owesTableSize) return start;
    return putNoTable(output.bytes, start);
  }

  /** A block larger than a frame goes on in CONTINUATION (RFC 9113 6.10). */
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

  /** Not while frames are put together: who hears of it hands over more. */
  private tellEmptied(): void {
    if (this.emptied.length === 0) return;
    const streams = this.emptied;
    this.emptied = [];
    for (const stream of streams) if (!stream.isClosed && stream.heldBytes === 0) stream.onAllFramed();
  }
}

/** By urgency, then those that take no turns in the order of their requests, then those that do (RFC 9218 10). */
const byPriority = (a: SendingStream, b: SendingStream): number =>
  a.urgency - b.urgency || Number(a.takesTurns) - Number(b.takesTurns) || (a.takesTurns ? 0 : a.id - b.id);
