import type { Socket } from "node:net";
import type { ClientCloseReason } from "../message/message.ts";
import { ReadingPace } from "./reading-pace.ts";
import {
  type ResponseMemory,
  type StoppableReader,
  type WaitingClient,
  WaitingResponse,
} from "./response-memory.ts";
import { ignore } from "../sockets/ignore.ts";
import type { WrittenBytes } from "../sockets/transport.ts";
import { ClientSpeed } from "./response-room.ts";
import { takenBytes } from "./taken-bytes.ts";

/** Returns the counts of bytes written to a socket. */
export const writtenTo = (socket: Socket): WrittenBytes => ({
  get waitingBytes() {
    return socket.writableLength;
  },
  get takenBytes() {
    return takenBytes(socket);
  },
});

/**
 * The number of waiting bytes that are counted immediately. Fewer are left to the next sweep; they have usually been
 * sent by then, since TLS and small texts are written late.
 */
const minCountedBytes = 16_384;
/** The most writes that may wait while more is written, since each uses additional memory, however small it is. */
const maxWaitingWrites = 64;

/**
 * Tracks the bytes that wait on a connection for its client: whether the client reads fast enough, how much of the
 * response memory they use, and how much more may be read. Costs nothing for a client that reads everything
 * immediately.
 */
export class ResponseWrites implements WaitingClient, StoppableReader {
  awaitsRoom = false;
  private readonly written: WrittenBytes;
  private readonly memory: ResponseMemory;
  private readonly timeoutMs: number;
  private readonly leave: (reason: ClientCloseReason) => void;
  private resume: () => void;
  private readonly pace = new ReadingPace();
  private waiting: WaitingResponse | undefined = undefined;
  private isWaiting = false;
  /** The number of writes since the operating system had last accepted everything. */
  private waitingWrites = 0;
  private readonly speed = new ClientSpeed();

  /** `timeoutMs` is the write timeout, 0 = off; `resume` continues reading for the client, `leave` closes it. */
  constructor(
    written: WrittenBytes,
    memory: ResponseMemory,
    timeoutMs: number,
    on: { readonly resume: () => void; readonly leave: (reason: ClientCloseReason) => void },
  ) {
    this.written = written;
    this.memory = memory;
    this.timeoutMs = timeoutMs;
    this.resume = on.resume;
    this.leave = on.leave;
  }

  /** The most bytes that may be read for the client at once, while it accepts more. */
  get roomBytes(): number {
    return this.speed.roomBytes(this.written.waitingBytes);
  }

  /** Called when the operating system has immediately accepted everything written. */
  wentAtOnce(bytes: number): void {
    this.waitingWrites = 0;
    this.speed.took(bytes);
  }

  /**
   * Called when some of the written bytes wait. Returns true if a little more may still be written. Otherwise `resume`
   * is called when there is room in the response memory, or the caller must call `drained` when everything has been
   * sent.
   */
  mayWait(): boolean {
    this.speed.paused();
    this.isWaiting = true;
    this.waitingWrites++;
    if (this.written.waitingBytes >= minCountedBytes || this.waitingWrites >= maxWaitingWrites) {
      this.look();
      return false;
    }
    return this.memory.admit(this);
  }

  /** Called at the end of a response, of which bytes may still wait. */
  watch(): void {
    if (this.written.waitingBytes === 0) return;
    this.isWaiting = true;
    this.look();
  }

  /** Called when all waiting bytes have been sent. */
  drained(): void {
    this.waitingWrites = 0;
    this.look();
    if (this.memory.admit(this)) this.resume();
  }

  /** Called in each sweep; ends the connection of a stalled client. */
  sweep(nowMs: number): void {
    if (!this.isWaiting) return;
    this.look();
    if (this.written.waitingBytes === 0) {
      this.isWaiting = false;
      this.pace.rest();
    } else if (this.pace.isStalled(nowMs, this.written.takenBytes, this.timeoutMs)) {
      this.leave("timeout");
    }
  }

  /** Stops tracking a connection that was handed over or has been closed. */
  forget(): void {
    this.isWaiting = false;
    this.resume = ignore;
    this.waiting?.hold(0, 0);
  }

  look(): void {
    const { waitingBytes, takenBytes: taken } = this.written;
    if (waitingBytes > 0) this.waiting ??= new WaitingResponse(this.memory, this);
    this.waiting?.hold(waitingBytes, taken);
  }

  cut(): void {
    this.leave("response-memory");
  }

  onRoom(): void {
    this.resume();
  }
}
