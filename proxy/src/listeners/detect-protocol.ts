import type { Socket } from "node:net";
import { awake } from "../timing/awake-clock.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { BorrowedBytes, Piece } from "../sockets/read-buffer.ts";
import { SocketStart } from "../sockets/socket-start.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";

export type CleartextProtocol = "http1" | "http2";

/** The beginning of the connection preface of HTTP/2 (RFC 9113 3.4), with which no HTTP/1 request begins. */
const prefaceStart = "PRI ";

/** Returns the protocol of the first bytes of a connection; undefined if more are needed. */
function protocolOf(bytes: BorrowedBytes): CleartextProtocol | undefined {
  const start = bytes.toString("latin1", 0, prefaceStart.length);
  if (start === prefaceStart) return "http2";
  return prefaceStart.startsWith(start) ? undefined : "http1";
}

/**
 * Waits for the first bytes of a socket, and detects its protocol as `FirstBytes` does. The bytes are put back;
 * `spentMs` is the time since the first of them arrived.
 */
export function detectProtocol(
  socket: Socket,
  timeoutMs: number,
  events: {
    readonly onProtocol: (protocol: CleartextProtocol, spentMs: number) => void;
    readonly onSilent: () => void;
  },
): void {
  const start = new SocketStart(socket);
  const first = new FirstBytes(start, timeoutMs, {
    onProtocol(protocol, { bytes }, spentMs) {
      start.putBack(bytes as Buffer);
      events.onProtocol(protocol, spentMs);
    },
    onSilent: events.onSilent,
  });
  start.start(first);
}

/** The outcomes of the detection. */
export type FirstBytesEvents = {
  /** `first` holds the bytes that have been read; `spentMs` is the time since the first of them arrived. */
  onProtocol(protocol: CleartextProtocol, first: Piece, spentMs: number): void;
  onSilent(): void;
};

/**
 * Distinguishes HTTP/2 with prior knowledge from HTTP/1 by the first bytes of a cleartext connection, and passes the
 * connection to `onProtocol`. A connection that sends no byte within `timeoutMs` (0 = no limit) or ends is closed
 * without a response; in the first case, `onSilent` is called before.
 */
export class FirstBytes implements TransportReceiver {
  private readonly transport: Pick<Transport, "destroy">;
  private readonly events: FirstBytesEvents;
  private readonly timer: AwakeTimer | undefined;
  /** Bytes that might be the beginning of a preface. */
  private held: Buffer | undefined = undefined;
  private begunMs = 0;

  constructor(transport: Pick<Transport, "destroy">, timeoutMs: number, events: FirstBytesEvents) {
    this.transport = transport;
    this.events = events;
    this.timer = timeoutMs > 0 ? new AwakeTimer(() => this.giveUp(), timeoutMs) : undefined;
  }

  receive(piece: Piece): void {
    const { held } = this;
    const first = held === undefined ? piece : owned(Buffer.concat([held, piece.bytes]));
    const protocol = protocolOf(first.bytes);
    if (protocol !== undefined) return this.decide(protocol, first);
    if (held === undefined) this.begunMs = awake.nowMs;
    this.held = Buffer.from(first.bytes);
  }

  ended(): void {
    this.transport.destroy();
  }

  taken(): void {}

  closed(): void {
    this.timer?.clear();
  }

  private decide(protocol: CleartextProtocol, first: Piece): void {
    this.timer?.clear();
    this.events.onProtocol(protocol, first, this.held === undefined ? 0 : awake.nowMs - this.begunMs);
  }

  /** Ends the wait. An incomplete method is passed to the HTTP/1 front, which responds after its own timeout. */
  private giveUp(): void {
    if (this.held !== undefined) return this.decide("http1", owned(this.held));
    this.events.onSilent();
    this.transport.destroy();
  }
}

const owned = (bytes: Buffer): Piece => ({ owned: true, bytes });
