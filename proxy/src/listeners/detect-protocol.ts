import type { Socket } from "node:net";
import { awake } from "../timing/awake-clock.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { BorrowedBytes, Piece } from "../sockets/read-buffer.ts";
import type { Transport, TransportReceiver } from "../sockets/transport.ts";

export type CleartextProtocol = "http1" | "http2";

/** How the connection preface of HTTP/2 begins (RFC 9113 3.4); no HTTP/1 request does. */
const prefaceStart = "PRI ";

/** Which protocol the first bytes of a connection are of; undefined: more are needed. */
function protocolOf(bytes: BorrowedBytes): CleartextProtocol | undefined {
  const start = bytes.toString("latin1", 0, prefaceStart.length);
  if (start === prefaceStart) return "http2";
  return prefaceStart.startsWith(start) ? undefined : "http1";
}

/**
 * Waits for the first bytes of a cleartext connection and distinguishes HTTP/2 with prior knowledge from HTTP/1. The bytes
 * are put back; `spentMs` says for how long the first of them had to wait. A connection that sends none within `timeoutMs` (0 = no
 * limit; `onSilent` is called), or ends, is closed without an answer.
 */
export function detectProtocol(
  socket: Socket,
  timeoutMs: number,
  events: {
    readonly onProtocol: (protocol: CleartextProtocol, spentMs: number) => void;
    readonly onSilent: () => void;
  },
): void {
  let bytes: Buffer = Buffer.alloc(0);
  /** When the first bytes came, if they did not decide. */
  let begunMs: number | undefined = undefined;
  const decide = (protocol: CleartextProtocol): void => {
    timer?.clear();
    socket.off("readable", onReadable);
    socket.off("end", onEnd);
    socket.off("close", onClose);
    socket.unshift(bytes);
    events.onProtocol(protocol, begunMs === undefined ? 0 : awake.nowMs - begunMs);
  };
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const protocol = protocolOf(bytes);
    if (protocol === undefined) begunMs ??= awake.nowMs;
    else decide(protocol);
  };
  const onEnd = (): void => void socket.destroy();
  // An unfinished method is answered by the HTTP/1 front, when its own time is over.
  const timer =
    timeoutMs > 0
      ? new AwakeTimer(() => {
          if (bytes.length > 0) return decide("http1");
          events.onSilent();
          onEnd();
        }, timeoutMs)
      : undefined;
  const onClose = (): void => timer?.clear();
  socket.on("readable", onReadable);
  socket.on("end", onEnd);
  socket.on("close", onClose);
}

/** What becomes of a connection without a socket. */
export type FirstBytesEvents = {
  /** `first` are the bytes that have been read, `spentMs` is for how long the first of them had to wait. */
  onProtocol(protocol: CleartextProtocol, first: Piece, spentMs: number): void;
  onSilent(): void;
};

/** The same on a transport, which goes on for whom `onProtocol` starts it for. */
export class FirstBytes implements TransportReceiver {
  private readonly transport: Transport;
  private readonly events: FirstBytesEvents;
  private readonly timer: AwakeTimer | undefined;
  /** The beginning of a preface. */
  private held: Buffer | undefined = undefined;
  private begunMs = 0;

  constructor(transport: Transport, timeoutMs: number, events: FirstBytesEvents) {
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

  /** An unfinished method is answered by the HTTP/1 front, when its own time is over. */
  private giveUp(): void {
    if (this.held !== undefined) return this.decide("http1", owned(this.held));
    this.events.onSilent();
    this.transport.destroy();
  }
}

const owned = (bytes: Buffer): Piece => ({ owned: true, bytes });
