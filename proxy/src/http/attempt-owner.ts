import type { Exchange } from "../exchange/exchange.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { ResponseHead } from "../message/message.ts";
import type { UpstreamError } from "../upstream/upstream-errors.ts";
import type { PipelineDependencies } from "./dependencies.ts";
import type { OutgoingBody } from "./outgoing-body.ts";

/** The request that attempts belong to. */
export type AttemptOwner = {
  readonly exchange: Exchange;
  readonly deps: PipelineDependencies;
  /** The body of the request, ready to be sent; null when it has none. */
  readonly body: OutgoingBody | null;
  /** Decides whether a failure leads to another attempt; set on routes with retries. */
  readonly retries: RetryDecision | undefined;
  /** Replaces a response that begins with this head with an error page if one applies; returns whether it did. */
  intercepts(head: ResponseHead): boolean;
  /** Sends a local reply instead of the response of an upstream; has no effect once the response has ended. */
  reply(reply: LocalReply): void;
};

/**
 * Decides whether another attempt follows a failed one. The `after…` methods return true if so; the failed one is then
 * discarded.
 */
export type RetryDecision = {
  afterResponse(head: ResponseHead): boolean;
  afterError(error: UpstreamError): boolean;
  afterTimeout(): boolean;
  /** Called when a response is on its way to the client, so that no other attempt follows. */
  settle(): void;
};
