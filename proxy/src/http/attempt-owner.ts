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
  /** Set on routes with retries: may answer a failure with another attempt. */
  readonly retries: RetryDecision | undefined;
  /** Answers the client in place of a response that begins with this head, where an error page does; true when it has. */
  intercepts(head: ResponseHead): boolean;
  /** Answers the client in place of an upstream; nothing once the response has ended. */
  reply(reply: LocalReply): void;
};

/** Decides whether another attempt follows a failed one, which is then discarded. */
export type RetryDecision = {
  afterResponse(head: ResponseHead): boolean;
  afterError(error: UpstreamError): boolean;
  afterTimeout(): boolean;
  /** A response is on its way to the client, so this attempt is the last. */
  settle(): void;
};
