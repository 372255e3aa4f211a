import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { takenBytes } from "../http/taken-bytes.ts";
import { resetSocket } from "./reset.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/**
 * A connection on a socket of Node's, plain or TLS. Bytes that were put back into the socket are read first; a socket that
 * reads into memory (`onread`) passes them to its receiver by itself.
 */
export class SocketTransport implements Transport {
  readonly takesViews = false;
  readonly encrypted: boolean;
  private readonly socket: Socket;
  private readonly readsIntoMemory: boolean;
  private receiver: TransportReceiver | undefined = undefined;
  private isAsked = false;

  constructor(socket: Socket, { readsIntoMemory = false } = {}) {
    this.socket = socket;
    this.readsIntoMemory = readsIntoMemory;
    this.encrypted = socket instanceof TLSSocket;
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

  get writable(): boolean {
    return this.socket.writable;
  }

  get finished(): boolean {
    return this.socket.writableFinished;
  }

  start(receiver: TransportReceiver): void {
    const { socket } = this;
    this.receiver = receiver;
    socket.on("end", () => receiver.ended());
    socket.on("close", () => receiver.closed());
    socket.on("error", ({ code }: NodeJS.ErrnoException) => receiver.failed?.(code));
    if (this.readsIntoMemory) return;
    socket.on("data", this.onData);
    socket.resume();
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
    if (this.encrypted) return void socket.write(bytes, (error) => (error ? undefined : done()));
    socket.write(bytes);
    if (socket.writableLength === 0) done();
  }

  whenTaken(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    // Nothing, behind all that waits: sockets say by an event only when more waits than they want to hold.
    this.socket.write("", "latin1", this.onTaken);
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
    resetSocket(this.socket);
  }

  release(): Socket {
    const { socket } = this;
    socket.pause();
    socket.off("data", this.onData);
    return socket;
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
