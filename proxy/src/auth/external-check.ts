import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { joinedField } from "../message/field-list.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { HeaderList } from "../message/message.ts";
import type { UpstreamRequest } from "../upstream/upstream.ts";
import type { CallFailure, ExternalAnswer, ReadsBody } from "./external-call.ts";

/**
 * The verdict of a service: allowed, with the fields for the upstream and for the client, from which the check selects
 * by name; or denied, with the reply to the client.
 */
export type ExternalVerdict =
  | { readonly allowed: true; readonly headers: HeaderList; readonly forClient: HeaderList }
  | { readonly allowed: false; readonly reply: LocalReply };

/** A protocol for check requests: HTTP or gRPC. */
export type ExternalCheckApi = {
  /**
   * Builds the check request; undefined if none can be built from the client's request, which counts as a failure of
   * the service. `body` is the body that the service gets; undefined if it gets none.
   */
  request(exchange: Exchange, body: Buffer | undefined): UpstreamRequest | undefined;
  readonly readsBody: ReadsBody;
  /** Reads the response; undefined when it is not a valid answer, which counts as a failure of the service. */
  verdict(answer: ExternalAnswer, exchange: Exchange): ExternalVerdict | undefined;
};

/** The reason for refusing a request whose check failed; `failure` is undefined if the kind of failure is not known. */
export const reasonOfFailure = (failure: CallFailure | undefined): RefusalCode =>
  failure === undefined || failure === "answer" ? "auth-service-failed" : `auth-service-${failure}`;

/** Describes an answer that is not a verdict, for the access log. */
export function describeAnswer({ status, headers, trailers }: ExternalAnswer): string {
  const call = joinedField(trailers ?? headers, "grpc-status") ?? "";
  return /^\d{1,3}$/.test(call) ? `status ${status}, grpc-status ${call}` : `status ${status}`;
}

/** The name of a service in the access log, `namespace/service:port`, from the key of its endpoints. */
export function serviceOf(endpoints: string): string {
  const [namespace = "", service = "", port = ""] = endpoints.split("/");
  return `${namespace}/${service}:${port}`;
}

/**
 * The denial of a service, passed to the client unchanged except for its framing. `detail` describes it for the log.
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
