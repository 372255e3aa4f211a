import type { Socket } from "node:net";
import { awake } from "../../timing/awake-clock.ts";

/** Whether a client takes what waits for it, by the idle timer of its socket, which any byte either way starts again. */
export class WriteWatch {
  private readonly socket: Socket;
  private readonly timeoutMs: number;
  private watching = false;
  /** What the awake clock had lost when the timer was set. */
  private lostMs = 0;

  constructor(socket: Socket, timeoutMs: number) {
    this.socket = socket;
    this.timeoutMs = timeoutMs;
  }

  /** Bytes wait for the client. */
  start(): void {
    if (this.watching) return;
    this.watching = true;
    this.set(this.timeoutMs);
  }

  /** The timer is over. True when the client has taken nothing in all that time; else the timer goes on, if bytes wait. */
  isOver(): boolean {
    if (this.socket.writableLength === 0) {
      this.watching = false;
      this.socket.setTimeout(0);
      return false;
    }
    awake.look();
    const lostMs = awake.lostMs - this.lostMs;
    if (lostMs > 0) this.set(Math.min(lostMs, this.timeoutMs));
    return lostMs === 0;
  }

  private set(ms: number): void {
    this.lostMs = awake.lostMs;
    this.socket.setTimeout(ms);
  }
}
