import type { Exchange } from "./exchange.ts";

export type ExchangeTimeouts = {
  /** No byte either way on an ordinary exchange, milliseconds, 0 = off. */
  readonly streamIdleTimeoutMs: number;
  /** The same for upgraded connections and gRPC. */
  readonly tunnelIdleTimeoutMs: number;
  /** From the head of the request to the end of the response, milliseconds, 0 = off. */
  readonly requestTimeoutMs: number;
};

/**
 * The exchanges under way in this worker. One sweep over all of them replaces a timer per request; a limit is
 * noticed at most one sweep late (docs/operations.md, "Timeouts").
 */
export class ActiveExchanges {
  private readonly exchanges = new Set<Exchange>();
  private readonly timeouts: ExchangeTimeouts;

  constructor(timeouts: ExchangeTimeouts) {
    this.timeouts = timeouts;
  }

  get size(): number {
    return this.exchanges.size;
  }

  add(exchange: Exchange): void {
    this.exchanges.add(exchange);
  }

  delete(exchange: Exchange): void {
    this.exchanges.delete(exchange);
  }

  /** Ends what exceeded its time. `nowMs` is on the clock of `performance.now()`. */
  sweep(nowMs: number): void {
    const { streamIdleTimeoutMs, tunnelIdleTimeoutMs, requestTimeoutMs } = this.timeouts;
    for (const exchange of this.exchanges) {
      const tunnel = exchange.status === 101;
      const idleTimeoutMs = tunnel || exchange.grpc ? tunnelIdleTimeoutMs : streamIdleTimeoutMs;
      if (requestTimeoutMs > 0 && !tunnel && nowMs - exchange.startedAtMs >= requestTimeoutMs) {
        exchange.expire?.("request timeout");
      } else if (idleTimeoutMs > 0 && nowMs - exchange.lastActivityMs >= idleTimeoutMs) {
        exchange.expire?.("idle timeout");
      }
    }
  }
}
