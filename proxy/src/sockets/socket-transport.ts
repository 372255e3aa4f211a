import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { takenBytes } from "../http/taken-bytes.ts";
import type { Piece } from "./read-buffer.ts";
import { resetSocket } from "./reset.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/**
 * A connection on a Node socket, plain or TLS, or on any other duplex stream. Bytes that were put back into it are read
 * first. If the socket reads into memory (`onread`), its bytes are passed on by `receive`.
 */
export class SocketTransport implements Transport {
  readonly takesViews = false;
  readonly holdsBack = false;
  readonly reportsLate: boolean;
  private readonly socket: Duplex;
  private readonly readsIntoMemory: boolean;
  private receiver: TransportReceiver | undefined = undefined;
  private isAsked = false;

  constructor(socket: Duplex, { readsIntoMemory = false } = {}) {
    this.socket = socket;
    this.readsIntoMemory = readsIntoMemory;
    this.reportsLate = socket instanceof TLSSocket;
  }

  get waitingBytes(): number {
    return this.socket.writableLength;
  }

  get takenBytes(): number {
    return takenBytes(this.socket);
  }

  get hasUnread(): boolean {
    return this.socket.readableLength > 0;
  }

  get ended(): boolean {
    return this.socket.readableEnded;
  }

  get writable(): boolean {
    return this.socket.writable;
  }

  get finished(): boolean {
    return this.socket.writableFinished;
  }

  start(receiver: TransportReceiver): void {
    const { socket } = this;
    const isFirst = this.receiver === undefined;
    this.receiver = receiver;
    if (isFirst) {
      socket.on("end", () => this.receiver?.ended());
      socket.on("close", () => this.receiver?.closed());
      socket.on("error", ({ code }: NodeJS.ErrnoException) => {
        // TLS reports an error while its alert is on the way, and leaves the connection open.
        socket.destroy();
        this.receiver?.failed?.(code);
      });
      if (!this.readsIntoMemory) socket.on("data", this.onData);
    }
    if (!isFirst || !this.readsIntoMemory) socket.resume();
  }

  writeText(text: string): void {
    this.socket.write(text, "latin1");
  }

  writeBytes(before: string, bytes: Buffer, after: string): void {
    const { socket } = this;
    if (before === "" && after === "") return void socket.write(bytes);
    socket.cork();
    if (before !== "") socket.write(before, "latin1");
    socket.write(bytes);
    if (after !== "") socket.write(after, "latin1");
    socket.uncork();
  }

  lendBytes(bytes: Buffer, done: () => void): void {
    const { socket } = this;
    if (this.reportsLate) return void socket.write(bytes, (error) => (error ? undefined : done()));
    socket.write(bytes);
    if (socket.writableLength === 0) done();
  }

  whenTaken(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    const { socket } = this;
    if (socket.writableEnded) socket.once("finish", this.onTaken);
    // An empty write behind all waiting data. A socket emits `drain` only if more was waiting than its high-water mark.
    else socket.write("", "latin1", this.onTaken);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  reset(): void {
    if (this.socket instanceof Socket) resetSocket(this.socket);
    else this.socket.destroy();
  }

  whenClosed(call: () => void): void {
    this.socket.once("close", call);
  }

  /** Passes on bytes that the socket has read into memory. */
  receive(piece: Piece): void {
    this.receiver?.receive(piece);
  }

  private readonly onData = (bytes: Buffer): void => this.receiver?.receive({ owned: true, bytes });

  private readonly onTaken = (error?: Error | null): void => {
    this.isAsked = false;
    if (error) return;
    // More was written meanwhile.
    if (this.socket.writableLength > 0) this.whenTaken();
    else this.receiver?.taken();
  };
}
