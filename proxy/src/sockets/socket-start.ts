import type { Socket } from "node:net";
import type { TransportReceiver } from "./transport.ts";

/**
 * Reads the first bytes of a socket for a receiver that decides by them which protocol handles the connection. They are
 * put back, so that this protocol reads them from the socket as if nothing had been read before.
 */
export class SocketStart {
  private readonly socket: Socket;
  private receiver: TransportReceiver | undefined = undefined;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  start(receiver: TransportReceiver): void {
    const { socket } = this;
    this.receiver = receiver;
    socket.on("readable", this.onReadable);
    socket.on("end", this.onEnd);
    socket.on("close", this.onClose);
  }

  /** Stops reading, and puts back all bytes that have been read. */
  putBack(bytes: Buffer): void {
    const { socket } = this;
    this.receiver = undefined;
    socket.off("readable", this.onReadable);
    socket.off("end", this.onEnd);
    socket.off("close", this.onClose);
    socket.unshift(bytes);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private readonly onReadable = (): void => {
    const bytes = this.socket.read() as Buffer | null;
    if (bytes !== null) this.receiver?.receive({ owned: true, bytes });
  };

  private readonly onEnd = (): void => this.receiver?.ended();

  private readonly onClose = (): void => this.receiver?.closed();
}
