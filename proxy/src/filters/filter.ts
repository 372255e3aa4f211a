import type { Exchange } from "../http/exchange.ts";
import type { LocalReply } from "../http/local-reply.ts";
import type { BodySink, ResponseHead } from "../http/message.ts";

/**
 * One feature on one route, built once when a snapshot is applied. A filter is synchronous unless it must wait;
 * filters run in the order of filters/order.ts, response hooks in the order given there as well.
 */
export type Filter = {
  readonly slug: string;
  /** Answers the request itself by returning a reply; undefined lets it go on. */
  readonly onRequest?: (exchange: Exchange) => LocalReply | undefined | Promise<LocalReply | undefined>;
  /** Sees, and may change, the head of every response of the route, local replies included. */
  readonly onResponse?: (exchange: Exchange, head: ResponseHead) => void;
  /**
   * May put a transformation in front of the client for an upstream's body: returns a sink that writes into `next`,
   * or undefined to leave the body alone. Called after all `onResponse` hooks; may change the head once more.
   */
  readonly transformBody?: (exchange: Exchange, head: ResponseHead, next: BodySink) => BodySink | undefined;
};
