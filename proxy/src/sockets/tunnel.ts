import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { Cancellable } from "../exchange/exchange.ts";
import { type ResponseMemory, type WaitingClient, WaitingResponse } from "../http/response-memory.ts";
import { ClientSpeed } from "../http/response-room.ts";
import { takenBytes } from "../http/taken-bytes.ts";
import type { TunnelReader, TunnelReceiver } from "./tunnel-reader.ts";

/** One end of an upgraded connection, with the bytes that were read ahead. */
export type TunnelEnd = {
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Ends the connection at once; by default destroys the socket. */
  readonly abort?: () => void;
  /** The reader of a socket that does not emit `data`. */
  readonly reader?: TunnelReader;
};

export type TunnelEvents = {
  /** Called when bytes were relayed in either direction: to the client, or from it. */
  readonly onProgress: (clientBytes: number, upstreamBytes: number) => void;
  readonly onEnd: () => void;
};

/**
 * Joins two raw connections until both directions have ended. A half-close is passed on; an error of one end destroys
 * the other. Backpressure is that of the sockets: nothing is buffered here. Bytes that wait for the client count in
 * `memory`, which ends both connections when its limit is reached.
 */
export function joinTunnel(
  client: TunnelEnd,
  upstream: TunnelEnd,
  events: TunnelEvents,
  memory: ResponseMemory,
): Cancellable {
  let open = 2;
  const destroy = (): void => {
    abortEnd(client);
    abortEnd(upstream);
  };
  const clientSink = new ClientSink(client.socket, memory, destroy);
  const closed = (): void => {
    open--;
    clientSink.look();
    if (open === 0) events.onEnd();
  };
  relay(upstream, clientSink, (bytes) => events.onProgress(bytes, 0), destroy, closed);
  relay(client, new Sink(upstream.socket), (bytes) => events.onProgress(0, bytes), destroy, closed);
  return { cancel: destroy };
}

function abortEnd({ socket, abort }: TunnelEnd): void {
  if (abort === undefined) socket.destroy();
  else abort();
}

/** Less than this may wait while more is read: TLS delays writes. */
const minPauseBytes = 16_384;
/** So may so many writes: each takes memory of its own, however small it is. */
const maxWaitingWrites = 64;

/** The destination of the bytes of one direction. */
class Sink implements TunnelReceiver {
  readonly socket: Duplex;
  private readonly speed = new ClientSpeed();
  private isPaused = false;
  /** Writes since the socket had taken everything. */
  private waitingWrites = 0;

  constructor(socket: Duplex) {
    this.socket = socket;
  }

  receive(chunk: Buffer): boolean {
    const { socket } = this;
    socket.write(chunk, this.onWritten);
    const waitingBytes = socket.writableLength;
    // Bytes that the kernel took at once need no wait.
    if (waitingBytes === 0) this.speed.took(chunk.length);
    else this.speed.paused();
    this.waitingWrites = waitingBytes === 0 ? 0 : this.waitingWrites + 1;
    this.isPaused = waitingBytes >= minPauseBytes || this.waitingWrites >= maxWaitingWrites;
    return !this.isPaused;
  }

  /** TLS delays writes, so that some bytes always appear to be held. */
  get heldBytes(): number | undefined {
    return this.socket instanceof TLSSocket ? undefined : this.socket.writableLength;
  }

  get roomBytes(): number {
    return this.speed.roomBytes(this.socket.writableLength);
  }

  /** Called when more may be read after `receive` has answered false. */
  resume: () => void = () => {};

  /** Called when all bytes were sent. */
  protected drained(): void {
    this.resume();
  }

  private readonly onWritten = (): void => {
    if (!this.isPaused || this.socket.writableLength > 0) return;
    this.isPaused = false;
    this.drained();
  };
}

/** The client: bytes that wait for it count towards the bound of all clients. */
class ClientSink extends Sink implements WaitingClient {
  readonly cut: () => void;
  private readonly memory: ResponseMemory;
  private readonly waiting: WaitingResponse;
  private isStopped = false;

  constructor(socket: Duplex, memory: ResponseMemory, cut: () => void) {
    super(socket);
    this.memory = memory;
    this.cut = cut;
    this.waiting = new WaitingResponse(memory, this);
  }

  override receive(chunk: Buffer): boolean {
    const hasRoom = super.receive(chunk);
    if (this.socket.writableLength === 0) return true;
    this.look();
    if (!hasRoom || !this.memory.full) return hasRoom;
    this.stop();
    return false;
  }

  protected override drained(): void {
    this.look();
    if (this.memory.full) this.stop();
    else this.resume();
  }

  look(): void {
    const { socket } = this;
    const heldBytes = socket.destroyed ? 0 : socket.writableLength;
    this.waiting.hold(heldBytes, takenBytes(socket));
  }

  /** Reads on once the memory of waiting responses has room. */
  private stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.memory.whenRoom(() => {
      this.isStopped = false;
      this.resume();
    });
  }
}

function relay(
  from: TunnelEnd,
  sink: Sink,
  onProgress: (bytes: number) => void,
  destroy: () => void,
  closed: () => void,
): void {
  const { socket, reader } = from;
  const to = sink.socket;
  const forward = (chunk: Buffer): boolean => {
    onProgress(chunk.length);
    return sink.receive(chunk);
  };
  const forwardOrPause = (chunk: Buffer): void => {
    if (!forward(chunk)) socket.pause();
  };
  sink.resume = () => socket.resume();
  if (reader === undefined) socket.on("data", forwardOrPause);
  else {
    reader.start({
      receive: forward,
      get heldBytes() {
        return sink.heldBytes;
      },
      get roomBytes() {
        return sink.roomBytes;
      },
    });
  }
  // A socket that has already ended, with nothing left to read, emits no further event.
  if (socket.readableEnded) to.end();
  else socket.on("end", () => to.end());
  socket.on("error", destroy);
  socket.on("close", () => {
    if (!socket.readableEnded) destroy();
    closed();
  });
  if (from.head.length > 0) forwardOrPause(from.head);
  socket.resume();
}
