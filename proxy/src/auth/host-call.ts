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
  /** Without Host. */
  readonly headers: HeaderList;
  readonly timeoutMs: number;
  /** Absent: it has none. */
  readonly body?: RequestBody | null;
};

/** What a host answers; its body is discarded. */
export type HostAnswer = { readonly status: number; readonly headers: HeaderList };

export type HostCall = {
  /** Undefined: there was no whole answer, or not in time. */
  readonly answer: Promise<HostAnswer | undefined>;
  /** Why a Service gave none; of hosts it is not known. */
  readonly failure?: CallFailure | undefined;
  readonly detail?: string | undefined;
  /** The answer is no longer wanted. */
  cancel(): void;
};

/**
 * Asks a host through the routes of the gateway, as its client would, without a connection. `for` is the request that waits
 * for the answer. Undefined: the gateway does not serve the host.
 */
export type AskHost = (question: HostQuestion, waiting: Exchange) => HostCall | undefined;
