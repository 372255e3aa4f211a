import type { FrontLimits, RequestHandler } from "../front.ts";
import type { ResponseMemory } from "../response-memory.ts";
import type { FrontClock } from "./clock.ts";
import type { FrontEvent } from "./events.ts";

/** What a front asks of each of its connections. */
export type FrontConnection = {
  /** Requests that would be cut if the connection ended now. */
  readonly openRequests: number;
  /** Ends what has run out of time. */
  sweep(): void;
  /** Closes the connection if nothing is under way; else its next response will. */
  drain(): void;
  /** Ends everything now. */
  destroy(): void;
};

/** A response that has something to write at the end of the turn. */
export type Flushable = { flush(): void };

/** What a connection needs of its front. */
export type FrontContext = {
  readonly limits: FrontLimits;
  readonly clock: FrontClock;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  /** True once the front drains: each response asks the client to leave. */
  readonly draining: boolean;
  report(event: FrontEvent): void;
  flushLater(stream: Flushable): void;
  /** Counts the memory of pipelined requests that wait; false when those of the front take too much. */
  reserveWaiting(bytes: number): boolean;
  releaseWaiting(bytes: number): void;
  forget(connection: FrontConnection): void;
};
