import type { Exchange } from "../exchange/exchange.ts";
import type { ListenerView } from "../exchange/listener-view.ts";
import { sayEnd } from "./say-end.ts";

export type ExchangeTimeouts = {
  /** The longest time without a byte in either direction on an ordinary exchange; milliseconds, 0 = off. */
  readonly streamIdleTimeoutMs: number;
  /** The same limit for upgraded connections and gRPC. */
  readonly tunnelIdleTimeoutMs: number;
  /**
   * The longest time from the head of the request to the end of the response, for rules without timeouts; milliseconds,
   * 0 = off.
   */
  readonly requestTimeoutMs: number;
};

/**
 * The exchanges under way in this worker. One sweep over all of them replaces a timer per request; a limit is noticed
 * at most one sweep late (docs/operations.md, "Timeouts").
 *
 * They are kept in an array in which each exchange knows its index, not in a Set. V8 rehashes a Set with a steady flow
 * of entries into new tables again and again, and each old table points to the next. Once the garbage collector has
 * promoted one to the old generation, the whole chain survives, with every exchange in it, until the next full
 * collection.
 */
export class ActiveExchanges {
  private readonly exchanges: Exchange[] = [];
  private readonly timeouts: ExchangeTimeouts;

  constructor(timeouts: ExchangeTimeouts) {
    this.timeouts = timeouts;
  }

  get size(): number {
    return this.exchanges.length;
  }

  add(exchange: Exchange): void {
    exchange.activeIndex = this.exchanges.push(exchange) - 1;
  }

  delete(exchange: Exchange): void {
    const index = exchange.activeIndex;
    const last = this.exchanges.pop();
    if (last === undefined) throw new Error("an exchange ended twice");
    if (last === exchange) return;
    // Move the last exchange to the free index.
    this.exchanges[index] = last;
    last.activeIndex = index;
  }

  /**
   * Notifies the clients of a listener that the proxy shuts down, where the protocol has a message for it (`sayEnd`);
   * returns how many requests that ended.
   */
  sayEnd(listener: ListenerView): number {
    const ofListener = this.exchanges.filter(({ connection }) => connection.listener === listener);
    return ofListener.filter(sayEnd).length;
  }

  /** Ends and thereby logs the exchanges that are left after all connections were closed. */
  end(): void {
    for (const exchange of [...this.exchanges]) exchange.clientClosed("shutdown");
  }

  /** Ends the exchanges that exceeded a time limit. `nowMs` is on the awake clock. */
  sweep(nowMs: number): void {
    const { streamIdleTimeoutMs, tunnelIdleTimeoutMs, requestTimeoutMs } = this.timeouts;
    // Iterate from the end: the exchange that is moved to the index of an expired one has already been checked.
    for (let i = this.exchanges.length - 1; i >= 0; i--) {
      const exchange = this.exchanges[i];
      if (exchange === undefined) continue;
      const tunnel = exchange.status === 101;
      const idleTimeoutMs = tunnel || exchange.grpc ? tunnelIdleTimeoutMs : streamIdleTimeoutMs;
      const defaultMs = tunnel || exchange.route?.hasOwnTimeouts === true ? 0 : requestTimeoutMs;
      if (defaultMs > 0 && nowMs - exchange.awakeAtMs >= defaultMs) {
        exchange.expire("request timeout");
      } else if (exchange.gaps?.isRunning === true) {
        // The gap limit of the route applies instead.
        continue;
      } else if (idleTimeoutMs > 0 && nowMs - exchange.lastActivityMs >= idleTimeoutMs) {
        exchange.expire("idle timeout");
      }
    }
  }
}
