import { awake } from "../../timing/awake-clock.ts";
import type { Front, FrontLimits, RequestHandler } from "../front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { sweepInterval } from "../sweep-interval.ts";
import type { Http2FrontEvent, Http2FrontEventHandler } from "./events.ts";

export type Http2FrontOptions = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  readonly onEvent?: Http2FrontEventHandler;
  /** Counts the response bytes that wait for clients; unlimited by default. */
  readonly responseMemory?: ResponseMemory;
};

/** The state and settings that all connections of a front share. */
export type FrontContext<Connection> = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  /** Set once the front drains. */
  readonly draining: boolean;
  onEvent(event: Http2FrontEvent): void;
  onClosed(connection: Connection): void;
};

/** The longest time between two sweeps, in milliseconds. */
const maxSweepIntervalMs = 1000;

/**
 * How long a drain waits for the first request of a connection, in milliseconds. The request may be on its way, and
 * some clients abandon a request that they are about to send when they read GOAWAY.
 */
const firstRequestMs = 1000;

/** A connection as seen by its front. */
type FrontConnection = {
  /** The number of requests received so far. */
  readonly requests: number;
  sweep(nowMs: number): void;
  drain(): void;
  /** Closes the connection immediately; returns how many requests were cut. */
  destroy(): number;
};

/** A front without the methods that accept connections. */
type FrontConnections<Connection> = Omit<Front, "accept" | "take"> & {
  /** Adds the connection that `create` returns. */
  add(create: (context: FrontContext<Connection>) => Connection): Connection;
};

/** Manages the connections of an HTTP/2 front with either codec: sweeps, drain, shutdown and shared state. */
export function createFrontConnections<Connection extends FrontConnection>({
  limits,
  handler,
  onEvent,
  responseMemory = new ResponseMemory(),
}: Http2FrontOptions): FrontConnections<Connection> {
  const connections = new Set<Connection>();
  const sweepIntervalMs = sweepInterval(limits, maxSweepIntervalMs);
  let sweeper: NodeJS.Timeout | undefined;
  let lastDrain: NodeJS.Timeout | undefined;
  let draining = false;

  const context: FrontContext<Connection> = {
    limits,
    handler,
    responseMemory,
    get draining() {
      return draining;
    },
    onEvent(event) {
      onEvent?.(event);
    },
    onClosed(connection) {
      connections.delete(connection);
      if (connections.size > 0) return;
      clearInterval(sweeper);
      clearTimeout(lastDrain);
      sweeper = undefined;
    },
  };

  const sweep = (): void => {
    awake.look();
    const { nowMs } = awake;
    for (const connection of connections) connection.sweep(nowMs);
    responseMemory.relieve();
  };

  return {
    add(create) {
      const connection = create(context);
      connections.add(connection);
      sweeper ??= setInterval(sweep, sweepIntervalMs).unref();
      return connection;
    },
    drain() {
      draining = true;
      // A connection without a request drains after its first one.
      for (const connection of connections) if (connection.requests > 0) connection.drain();
      const drainAll = (): void => connections.forEach((connection) => connection.drain());
      if (connections.size > 0) lastDrain ??= setTimeout(drainAll, firstRequestMs).unref();
    },
    get connections() {
      return connections.size;
    },
    destroy() {
      let cut = 0;
      for (const connection of connections) cut += connection.destroy();
      return cut;
    },
  };
}
