import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import { ListenerHoldings, type Origin } from "../fairness/listener-holdings.ts";

/** A connection that a listener can close: a socket or a transport. */
export type Closable = { destroy(): unknown };

type Held = { readonly connection: Closable; readonly origin: Origin; readonly onLost: () => void };

const defaultLeast = 1_024;

/**
 * The silent connections of a worker: those without a PROXY protocol header, a ClientHello or a byte of a request so
 * far. They cost next to nothing and any client can open them, so they have their own bound. At that bound, a new one
 * is never refused, but an older one is evicted (docs/features/listeners.md, "Silent connections").
 */
export class SilentConnections {
  private readonly max: number;
  private readonly workers: number;
  private readonly least: number;
  private readonly held = new Map<Closable, Held>();
  private readonly byOrigin = new ListenerHoldings<Held>();

  /**
   * `maxConnections` is the limit of all workers together, silent or not. Half of them may be silent, and at least
   * `least`, since users who set a small limit count connections themselves.
   */
  constructor(maxConnections: number, workers = 1, least = defaultLeast) {
    this.workers = workers;
    this.least = least;
    this.max = this.shareOf(maxConnections);
  }

  get size(): number {
    return this.held.size;
  }

  /**
   * Counts a connection until `delete`. `maxOfListener` is the connection limit of its listener, 0 = no limit. `onLost`
   * is called when the connection is evicted; the caller closes it.
   */
  add(
    connection: Closable,
    from: { readonly listener: number; readonly maxOfListener: number; readonly ip: string },
    onLost: () => void,
  ): void {
    const { listener, maxOfListener, ip } = from;
    this.delete(connection);
    if (maxOfListener > 0 && this.byOrigin.countOf(listener) >= this.shareOf(maxOfListener)) {
      this.lose(this.byOrigin.oldestOf(listener));
    } else if (this.held.size >= this.max) this.lose(this.byOrigin.oldestOfMost());
    const held = { connection, origin: { listener, network: networkOf(ip) }, onLost };
    this.held.set(connection, held);
    this.byOrigin.add(held.origin, held);
  }

  /** Removes a connection that is no longer silent or has been closed. */
  delete(connection: Closable): void {
    const held = this.held.get(connection);
    if (held === undefined) return;
    this.held.delete(connection);
    this.byOrigin.delete(held.origin, held);
  }

  private shareOf(connections: number): number {
    return Math.max(1, Math.floor(Math.max(this.least, connections / 2) / this.workers));
  }

  private lose(held: Held | undefined): void {
    if (held === undefined) return;
    this.delete(held.connection);
    held.onLost();
  }
}
