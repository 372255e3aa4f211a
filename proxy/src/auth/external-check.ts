import type { Exchange } from "../exchange/exchange.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList } from "../message/message.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import type { ExternalAnswer, ReadsBody } from "./external-call.ts";

/**
 * What an answer means: the fields that an allowing one has for the upstream and for the client, of which the check names
 * some; or what the client gets instead.
 */
export type ExternalVerdict =
  | { readonly allowed: true; readonly headers: HeaderList; readonly forClient: HeaderList }
  | { readonly allowed: false; readonly reply: LocalReply };

/** One way to ask a service about a request. */
export type ExternalCheckApi = {
  /** `body`: what the service gets of the request's body; undefined where it gets none. */
  question(exchange: Exchange, body: Buffer | undefined): UpstreamRequest;
  readonly readsBody: ReadsBody;
  /** Undefined: no answer to the question, which counts as a failure of the service. */
  verdict(answer: ExternalAnswer): ExternalVerdict | undefined;
};

/** The refusal of a service as it is, apart from the framing. */
export const refusal = (status: number, headers: HeaderList, body: string): ExternalVerdict => ({
  allowed: false,
  reply: { status, headers, body, isVerbatim: true, error: "refused by the authorization service" },
});
