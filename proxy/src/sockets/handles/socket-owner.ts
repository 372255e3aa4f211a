import type { Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import { takenBytes } from "../../http/taken-bytes.ts";
import { resetSocket } from "../reset.ts";
import type { FailedCall, HandleEvents, HandleOwner } from "./handle-owner.ts";
import { handleOf, type StreamHandle } from "./internals.ts";

/** A Node socket as the owner of its handle. The socket can otherwise be used as before. */
export class SocketOwner implements HandleOwner {
  private readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get handle(): StreamHandle | undefined {
    return handleOf(this.socket);
  }

  get takenBytes(): number {
    return takenBytes(this.socket);
  }

  get hasEnded(): boolean {
    return this.socket.readableEnded;
  }

  get isWritable(): boolean {
    return this.socket.writable;
  }

  get isFinished(): boolean {
    return this.socket.writableFinished;
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  watch(events: HandleEvents): void {
    const { socket } = this;
    socket.on("end", () => events.peerEnded());
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      // TLS reports an error while its alert is on the way, and leaves the connection open.
      socket.destroy();
      events.failed(code);
    });
    socket.on("close", () => events.closed());
  }

  takeRead(): Buffer | undefined {
    const { socket } = this;
    return socket.readableLength > 0 ? ((socket.read() as Buffer | null) ?? undefined) : undefined;
  }

  peerHasEnded(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    socket.push(null);
    socket.read(0);
  }

  end(): void {
    this.socket.end();
  }

  destroy(error?: FailedCall): void {
    this.socket.destroy(error && errorOf(error));
  }

  reset(): void {
    resetSocket(this.socket);
  }

  whenClosed(call: () => void): void {
    this.socket.once("close", call);
  }
}

function errorOf({ call, status }: FailedCall): Error {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${call} ${code}`), { code, errno: status, syscall: call });
}
