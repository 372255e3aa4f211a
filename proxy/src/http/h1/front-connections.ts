import type { Front, FrontLimits, RequestHandler } from "../front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { sweepInterval } from "../sweep-interval.ts";
import { FrontClock } from "./clock.ts";
import type { Flushable, FrontConnection, FrontContext } from "./context.ts";
import type { FrontEvent } from "./events.ts";

export type Http1FrontOptions = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  /** Called when the front refuses a request or closes a connection on its own. */
  readonly onEvent: (event: FrontEvent) => void;
  /** Counts the response bytes that wait for clients; unlimited by default. */
  readonly responseMemory?: ResponseMemory;
};

/** The longest time between two sweeps, in milliseconds; short timeouts are checked four times in their duration. */
const maxSweepIntervalMs = 500;
/** The most memory of waiting pipelined requests, over all connections. */
const maxWaitingBytes = 25_165_824;

/** Manages the connections of an HTTP/1 front with either codec: sweeps, drain, shutdown and shared state. */
export class FrontConnections implements FrontContext, Omit<Front, "accept" | "take"> {
  readonly limits: FrontLimits;
  readonly clock: FrontClock;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  readonly report: (event: FrontEvent) => void;
  draining = false;
  private readonly open = new Set<FrontConnection>();
  private sweeper: NodeJS.Timeout | undefined = undefined;
  private waitingBytes = 0;
  private unflushed: Flushable[] = [];

  constructor({ limits, handler, onEvent, responseMemory = new ResponseMemory() }: Http1FrontOptions) {
    this.limits = limits;
    this.clock = new FrontClock(sweepInterval(limits, maxSweepIntervalMs));
    this.handler = handler;
    this.report = onEvent;
    this.responseMemory = responseMemory;
  }

  /** Starts the sweeps if necessary; must be called before a connection is created. */
  wake(): void {
    if (this.sweeper !== undefined) return;
    // Deadlines are relative to the last refresh of the clock, and without connections it has not been refreshed.
    this.clock.refresh();
    this.sweeper = setInterval(() => this.sweep(), this.clock.sweepIntervalMs);
  }

  add(connection: FrontConnection): void {
    this.open.add(connection);
  }

  forget(connection: FrontConnection): void {
    this.open.delete(connection);
    if (this.open.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }

  get connections(): number {
    return this.open.size;
  }

  drain(): void {
    this.draining = true;
    for (const connection of this.open) connection.drain();
  }

  destroy(): number {
    let cut = 0;
    for (const connection of this.open) {
      cut += connection.openRequests;
      connection.destroy();
    }
    return cut;
  }

  flushLater(stream: Flushable): void {
    if (this.unflushed.push(stream) === 1) process.nextTick(this.flush);
  }

  reserveWaiting(bytes: number): boolean {
    if (this.waitingBytes + bytes > maxWaitingBytes) return false;
    this.waitingBytes += bytes;
    return true;
  }

  releaseWaiting(bytes: number): void {
    this.waitingBytes -= bytes;
  }

  private readonly flush = (): void => {
    const streams = this.unflushed;
    this.unflushed = [];
    for (const stream of streams) stream.flush();
  };

  private sweep(): void {
    this.clock.refresh();
    for (const connection of this.open) connection.sweep();
    this.responseMemory.relieve();
  }
}
