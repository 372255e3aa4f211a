import type { Socket } from "node:net";
import type { FrontLimits, RequestHandler } from "../front.ts";
import type { ResponseMemory } from "../response-memory.ts";
import type { FrontClock } from "./clock.ts";
import type { FrontEvent } from "./events.ts";
import type { Http1Stream } from "./stream.ts";

/** What a connection needs of its front. */
export type FrontContext = {
  readonly limits: FrontLimits;
  readonly clock: FrontClock;
  readonly handler: RequestHandler;
  readonly responseMemory: ResponseMemory;
  /** True once the front drains: each response asks the client to leave. */
  readonly draining: boolean;
  report(event: FrontEvent): void;
  flushLater(stream: Http1Stream): void;
  /** Counts the memory of a pipelined request that waits; false when those of the front take too much. */
  reserveWaiting(bytes: number): boolean;
  releaseWaiting(bytes: number): void;
  forget(socket: Socket): void;
};
