import { awake } from "../../timing/awake-clock.ts";
import type { Front, FrontLimits, RequestHandler } from "../front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { sweepInterval } from "../sweep-interval.ts";
import type { Http2FrontEvent, Http2FrontEventHandler } from "./events.ts";

export type Http2FrontOptions = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  readonly onEvent?: Http2FrontEventHandler;
  /** Counts the response bytes that wait for clients; without a bound unless given. */
  readonly responseMemory?: ResponseMemory;
};

/** What all connections of a front share. */
export type FrontContext<Connection> = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  /** Set once the front drains. */
  readonly draining: boolean;
  onEvent(event: Http2FrontEvent): void;
  onClosed(connection: Connection): void;
};

/** Longest time between two looks at the time limits. */
const maxSweepIntervalMs = 1000;

/**
 * How long a drain waits for the first request of a connection. It may be on its way, and some clients give up a request that
 * they are about to send when they read GOAWAY.
 */
const firstRequestMs = 1000;

/** A connection as its front sees it. */
type FrontConnection = {
  /** Requests that it has had. */
  readonly requests: number;
  sweep(nowMs: number): void;
  drain(): void;
  /** Ends everything now; answers how many requests were cut. */
  destroy(): number;
};

/** Connections as fronts have them, but for how they are accepted. */
type FrontConnections<Connection> = Omit<Front, "accept" | "take"> & {
  /** Adds a connection, which `create` makes. */
  add(create: (context: FrontContext<Connection>) => Connection): Connection;
};

/** The connections of an HTTP/2 front, whichever codec it has: their sweeps, their end, and what they share. */
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
      // One without a request ends with its first.
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
