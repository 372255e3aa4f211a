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
  /**
   * Sees (and may change) the response head; may return a sink that transforms the body, writing into `next`.
   * Local replies pass through here as well.
   */
  readonly onResponse?: (exchange: Exchange, head: ResponseHead, next: BodySink) => BodySink | undefined;
};
