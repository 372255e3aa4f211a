import type { Exchange } from "../exchange/exchange.ts";
import type { CallFailure } from "./external-call.ts";
import type { HeaderList, RequestBody } from "../message/message.ts";

/** A question to a host that the gateway serves itself, on behalf of the client of another request. */
export type HostQuestion = {
  readonly scheme: "http" | "https";
  /** `host[:port]`. */
  readonly authority: string;
  readonly method: string;
  readonly target: string;
  /** The fields of the question, without Host. */
  readonly headers: HeaderList;
  readonly timeoutMs: number;
  /** The body; absent or null if the question has none. */
  readonly body?: RequestBody | null;
};

/** The answer of a host, whose body is discarded. */
export type HostAnswer = { readonly status: number; readonly headers: HeaderList };

export type HostCall = {
  /** The answer; undefined if no complete answer arrived in time. */
  readonly answer: Promise<HostAnswer | undefined>;
  /** The reason why a Service did not answer; not known for hosts of the gateway. */
  readonly failure?: CallFailure | undefined;
  readonly detail?: string | undefined;
  /** Whether a host of the gateway did not answer in time. */
  readonly hasTimedOut?: boolean;
  /** Aborts the call: its answer is no longer wanted. */
  cancel(): void;
};

/**
 * Sends a question to a host through the routes of the gateway, as a client would, but without a connection. `waiting`
 * is the request that waits for the answer. Returns undefined if the gateway does not serve the host.
 */
export type AskHost = (question: HostQuestion, waiting: Exchange) => HostCall | undefined;
