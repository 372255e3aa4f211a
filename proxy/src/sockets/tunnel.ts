import type { Cancellable } from "../exchange/exchange.ts";
import { ResponseWrites } from "../http/response-writes.ts";
import { ResponseMemory } from "../http/response-memory.ts";
import { copyOf } from "./copy-of.ts";
import { lend, type Piece } from "./read-buffer.ts";
import type { Transport, TransportReceiver, TunnelEnd } from "./transport.ts";
import { goingAway, maskedGoingAway, WebSocketFrames } from "./web-socket-frames.ts";

export type TunnelEvents = {
  /** Called when bytes were relayed in either direction: to the client, or from it. */
  readonly onProgress: (clientBytes: number, upstreamBytes: number) => void;
  readonly onEnd: () => void;
  /** Whether the tunnel relays a WebSocket, both ends of which can be notified when the proxy ends. */
  readonly isWebSocket?: boolean;
};

/** Bytes that wait for upstreams are bounded per connection only. */
const upstreamMemory = new ResponseMemory();

/**
 * Joins two raw connections until both directions have ended. A half-close is passed on; an error of one end destroys
 * the other. Bytes read from one end are written to the other in the same turn, and an end is paused while the kernel
 * does not accept the bytes of the other. Bytes that wait for the client count in `memory`, which ends both connections
 * when its limit is reached.
 */
export function joinTunnel(
  client: TunnelEnd,
  upstream: TunnelEnd,
  events: TunnelEvents,
  memory: ResponseMemory,
): Cancellable {
  const tunnel = new Tunnel(client, upstream, events, memory);
  tunnel.start();
  return tunnel;
}

class Tunnel implements Cancellable {
  private readonly client: TunnelSide;
  private readonly upstream: TunnelSide;
  private readonly events: TunnelEvents;
  private openSides = 2;

  constructor(client: TunnelEnd, upstream: TunnelEnd, events: TunnelEvents, memory: ResponseMemory) {
    const { onProgress } = events;
    this.events = events;
    this.client = new TunnelSide(client, this, memory, (bytes) => onProgress(0, bytes));
    this.upstream = new TunnelSide(upstream, this, upstreamMemory, (bytes) => onProgress(bytes, 0));
    this.client.other = this.upstream;
    this.upstream.other = this.client;
    if (events.isWebSocket !== true) return;
    this.client.frames = new WebSocketFrames();
    this.upstream.frames = new WebSocketFrames();
  }

  start(): void {
    this.upstream.start();
    this.client.start();
  }

  cancel(): void {
    this.client.abort();
    this.upstream.abort();
  }

  sayEnd(): void {
    const { client, upstream } = this;
    const [mayTellClient, mayTellUpstream] = [upstream.frames?.mayAdd, client.frames?.mayAdd];
    if (mayTellClient === true) client.sayLast(goingAway);
    if (mayTellUpstream === true) upstream.sayLast(maskedGoingAway());
  }

  sideClosed(): void {
    this.openSides--;
    if (this.openSides === 0) this.events.onEnd();
  }
}

/** The smallest read that is regarded as part of a bulk transfer. */
const bulkReadBytes = 65_536;

/** One connection of a tunnel, whose bytes are written to the other one. */
class TunnelSide implements TransportReceiver {
  other: TunnelSide | undefined = undefined;
  /** Follows the frames that this side sends, if the tunnel relays a WebSocket. */
  frames: WebSocketFrames | undefined = undefined;
  /** Whether the last frame has been written to this side. */
  private hasSaidLast = false;
  private readonly end: TunnelEnd;
  private readonly transport: Transport;
  private readonly tunnel: Tunnel;
  private readonly onBytes: (bytes: number) => void;
  /** The bytes that were written to this connection and are waiting. */
  private readonly writes: ResponseWrites;

  constructor(end: TunnelEnd, tunnel: Tunnel, memory: ResponseMemory, onBytes: (bytes: number) => void) {
    this.end = end;
    this.transport = end.transport;
    this.tunnel = tunnel;
    this.onBytes = onBytes;
    this.writes = new ResponseWrites(end.transport, memory, 0, {
      resume: () => this.other?.transport.resume(),
      leave: () => tunnel.cancel(),
    });
  }

  start(): void {
    const { transport, end } = this;
    transport.start(this);
    if (end.head.length > 0) this.receive({ owned: true, bytes: end.head });
    // The end of a peer is reported once.
    if (transport.ended) this.ended();
  }

  /** Writes the proxy's own last bytes, unless others wait, which they could not overtake. Later bytes are dropped. */
  sayLast(bytes: Buffer): void {
    const { transport } = this;
    if (!transport.writable || transport.waitingBytes > 0) return;
    transport.writeBytes("", bytes, "");
    this.hasSaidLast = true;
  }

  abort(): void {
    const { abort, transport } = this.end;
    if (abort === undefined) transport.destroy();
    else abort();
  }

  receive(piece: Piece): void {
    const { other } = this;
    if (other === undefined) return;
    const { length } = piece.bytes;
    this.onBytes(length);
    this.frames?.read(piece.bytes);
    const more = other.write(piece);
    this.chooseMemory(other, length, more);
    if (!more) this.transport.pause();
  }

  ended(): void {
    this.other?.transport.end();
  }

  taken(): void {
    this.writes.drained();
  }

  failed(): void {
    this.tunnel.cancel();
  }

  closed(): void {
    this.writes.forget();
    if (!this.transport.ended) this.tunnel.cancel();
    this.tunnel.sideClosed();
  }

  /** The number of bytes that were written and are still held; undefined if the transport reports them late. */
  private get heldBytes(): number | undefined {
    return this.transport.reportsLate ? undefined : this.transport.waitingBytes;
  }

  /** Writes bytes of the other end. Returns false if the other end must be paused until it is resumed. */
  private write({ owned, bytes }: Piece): boolean {
    if (this.hasSaidLast) return true;
    const { transport, writes } = this;
    const { length } = bytes;
    const mayLend = owned || transport.takesViews;
    transport.writeBytes("", mayLend ? lend(bytes, 0, length) : copyOf(bytes, 0, length), "");
    // No wait is needed if the kernel accepted the bytes immediately.
    if (transport.waitingBytes === 0) {
      writes.wentAtOnce(length);
      return true;
    }
    const more = writes.mayWait();
    if (more) writes.look();
    if (!more || !transport.reportsLate) transport.whenTaken();
    return more;
  }

  /**
   * Chooses the memory of the next read. A bulk transfer has private memory, which is reused while the other end holds
   * nothing of it.
   */
  private chooseMemory({ heldBytes, writes }: TunnelSide, length: number, more: boolean): void {
    const { memory } = this.end;
    if (length < bulkReadBytes) memory?.reset(heldBytes);
    else memory?.settle(0, heldBytes, more, writes.roomBytes);
  }
}
