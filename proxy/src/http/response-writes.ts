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

/** What has been written to a socket. */
export const writtenTo = (socket: Socket): WrittenBytes => ({
  get waitingBytes() {
    return socket.writableLength;
  },
  get takenBytes() {
    return takenBytes(socket);
  },
});

/** Less than this is counted by the next sweep: it has mostly left before, since TLS and small texts are written later. */
const minCountedBytes = 16_384;
/** Most writes that wait while more is written: each takes memory of its own, however small it is. */
const maxWaitingWrites = 64;

/**
 * What waits on a connection for its client: whether the client takes it fast enough, how much it takes of the memory of
 * waiting responses, and how much may be read for it. Nothing is done for a client that takes everything at once.
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
  /** Writes since the system had taken everything. */
  private waitingWrites = 0;
  private readonly speed = new ClientSpeed();

  /** `timeoutMs` is the write timeout, 0 = off; `resume` reads on for the client, `leave` ends the connection. */
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

  /** Most bytes that may be read for the client at once, while it wants more. */
  get roomBytes(): number {
    return this.speed.roomBytes(this.written.waitingBytes);
  }

  /** The system has taken all that was written. */
  wentAtOnce(bytes: number): void {
    this.waitingWrites = 0;
    this.speed.took(bytes);
  }

  /**
   * Some of what was written waits. True: a little more may be written all the same. Else `resume` is called when there is
   * room in the memory of waiting responses, or `drained` is to be when everything has left.
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

  /** Bytes of an ended response may wait. */
  watch(): void {
    if (this.written.waitingBytes === 0) return;
    this.isWaiting = true;
    this.look();
  }

  /** Everything that waited has been taken. */
  drained(): void {
    this.waitingWrites = 0;
    this.look();
    if (this.memory.admit(this)) this.resume();
  }

  /** To be called in each sweep. */
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

  /** Stops the use of a connection that was handed over or has been closed. */
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
