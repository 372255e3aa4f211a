import type { FrontLimits, RequestHandler } from "../front.ts";
import type { ResponseMemory } from "../response-memory.ts";
import type { FrontClock } from "./clock.ts";
import type { FrontEvent } from "./events.ts";

/** A connection as used by its front. */
export type FrontConnection = {
  /** The number of requests that would be cut if the connection ended now. */
  readonly openRequests: number;
  /** Enforces the time limits. */
  sweep(): void;
  /** Closes the connection if nothing is under way; otherwise its next response does. */
  drain(): void;
  /** Closes the connection immediately. */
  destroy(): void;
};

/** A response with data to write at the end of the turn. */
export type Flushable = { flush(): void };

/** The front as used by its connections. */
export type FrontContext = {
  readonly limits: FrontLimits;
  readonly clock: FrontClock;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  /** True once the front drains: each response then closes its connection. */
  readonly draining: boolean;
  report(event: FrontEvent): void;
  flushLater(stream: Flushable): void;
  /** Reserves memory for waiting pipelined requests; returns false if those of the front would exceed the limit. */
  reserveWaiting(bytes: number): boolean;
  releaseWaiting(bytes: number): void;
  forget(connection: FrontConnection): void;
};
