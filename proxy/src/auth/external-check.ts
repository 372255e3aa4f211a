import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { joinedField } from "../message/field-list.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList } from "../message/message.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import type { CallFailure, ExternalAnswer, ReadsBody } from "./external-call.ts";

/**
 * The verdict of a service: allowed, with the fields that it has for the upstream and for the client, of which the check
 * names some; or denied, with the reply to the client.
 */
export type ExternalVerdict =
  | { readonly allowed: true; readonly headers: HeaderList; readonly forClient: HeaderList }
  | { readonly allowed: false; readonly reply: LocalReply };

/** A protocol for check requests: HTTP or gRPC. */
export type ExternalCheckApi = {
  /**
   * Builds the check request; undefined where the request makes none, which counts as a failure of the service. `body`: the
   * part of the request's body that the service gets; undefined where it gets none.
   */
  request(exchange: Exchange, body: Buffer | undefined): UpstreamRequest | undefined;
  readonly readsBody: ReadsBody;
  /** Reads the response; undefined when it is no valid answer, which counts as a failure of the service. */
  verdict(answer: ExternalAnswer, exchange: Exchange): ExternalVerdict | undefined;
};

/** The reason of a check that failed; `undefined`: nothing is known. */
export const reasonOfFailure = (failure: CallFailure | undefined): RefusalCode =>
  failure === undefined || failure === "answer" ? "auth-service-failed" : `auth-service-${failure}`;

/** An answer that is no verdict, for the access log. */
export function describeAnswer({ status, headers, trailers }: ExternalAnswer): string {
  const call = joinedField(trailers ?? headers, "grpc-status") ?? "";
  return /^\d{1,3}$/.test(call) ? `status ${status}, grpc-status ${call}` : `status ${status}`;
}

/** A service as the access log names it, of the key of its endpoints: `namespace/service:port`. */
export function serviceOf(endpoints: string): string {
  const [namespace = "", service = "", port = ""] = endpoints.split("/");
  return `${namespace}/${service}:${port}`;
}

/**
 * The denial of a service, passed to the client as it is apart from its framing. `detail` is what it answered, for the log.
 */
export const refusal = (
  status: number,
  headers: HeaderList,
  body: string,
  detail = `status ${status}`,
): ExternalVerdict => ({
  allowed: false,
  reply: { status, headers, body, isVerbatim: true, error: "denied by the authorization service", detail },
});
