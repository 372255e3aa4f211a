import { STATUS_CODES } from "node:http";
import type { RefusalCode, RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { fieldPairs } from "./field-list.ts";
import { Fields } from "./fields.ts";
import type { HeaderList, ResponseHead } from "./message.ts";

/** A response that the proxy generates itself. */
export type LocalReply = Reply & Cause;

type Reply = {
  readonly status: number;
  /** Additional fields, such as `Location` or `Retry-After`. */
  readonly headers?: HeaderList;
  /** The body; if absent, the standard body `<code> <reason>\n` is sent. An empty string means no body. */
  readonly body?: string;
  /** True for a response of another service that is passed on: nothing is added except its length. */
  readonly isVerbatim?: boolean;
  /** The status of a gRPC call, if it does not follow from `status`. */
  readonly grpcStatus?: number;
  /** The cause in detail, for the access log only: a rule that applied, or the reaction of another service. */
  readonly detail?: string;
  /** True when the connection must not be used again (framing is in doubt). */
  readonly close?: boolean;
};

/** The cause, for log and metrics: a short fixed text, and its code if the text alone does not determine it. */
type Cause =
  | { readonly error?: RefusalError; readonly reason?: RefusalCode }
  | { readonly error: string; readonly reason: RefusalCode };

/** Head and body of a local reply, ready for the client's side. */
export type RenderedReply = { readonly head: ResponseHead; readonly body: string };

/**
 * Renders a local reply: `<code> <reason>\n` as plain text that must not be stored (docs/features/errors.md). Redirects
 * get no Cache-Control, since their status determines whether they may be stored (RFC 9110 15.4). A gRPC client instead
 * gets HTTP 200 with the gRPC status in the head (trailers-only), because it ignores HTTP statuses.
 */
export function renderReply(
  reply: LocalReply,
  request: { readonly head: boolean; readonly grpc: boolean },
): RenderedReply {
  if (request.grpc) return renderGrpcReply(reply);
  const { status } = reply;
  const bodyless = status === 204 || status === 304;
  const text = reply.body ?? `${status} ${STATUS_CODES[status] ?? "Unknown"}\n`;
  const headers: HeaderList = [];
  const isOwn = reply.isVerbatim !== true;
  if (isOwn && text !== "" && !bodyless) headers.push("Content-Type", "text/plain");
  if (isOwn && (status < 300 || status > 399)) headers.push("Cache-Control", "no-store");
  if (reply.headers !== undefined) headers.push(...reply.headers);
  // Only the service itself knows the length for an answer to HEAD, and may have omitted it (RFC 9110 8.6).
  const isLengthOpen = !isOwn && request.head && text === "";
  const length = bodyless ? 0 : Buffer.byteLength(text, "latin1");
  if (!bodyless && !isLengthOpen) headers.push("Content-Length", String(length));
  const empty = bodyless || request.head || text === "";
  return {
    head: {
      status,
      headers: Fields.of(headers),
      length: isLengthOpen ? undefined : empty ? 0 : length,
      bodyless: bodyless || request.head,
      isWhole: true,
    },
    body: empty ? "" : text,
  };
}

function renderGrpcReply(reply: LocalReply): RenderedReply {
  const headers: HeaderList = [
    "content-type",
    "application/grpc",
    "grpc-status",
    String(reply.grpcStatus ?? grpcStatusOf(reply.status)),
    "grpc-message",
    encodeGrpcMessage(reply.error ?? STATUS_CODES[reply.status] ?? "unknown"),
  ];
  for (const [name, value] of fieldPairs(reply.headers ?? [])) {
    const lower = name.toLowerCase();
    if (lower === "www-authenticate" || lower === "retry-after") headers.push(lower, value);
  }
  return {
    head: { status: 200, headers: Fields.of(headers), length: 0, bodyless: false, isWhole: true },
    body: "",
  };
}

/** Returns the gRPC status for an HTTP status of the proxy itself. See docs/features/grpc.md. */
function grpcStatusOf(httpStatus: number): number {
  switch (httpStatus) {
    case 400:
      return 13;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
    case 405:
      return 12;
    case 413:
      return 8;
    case 429:
    case 502:
    case 503:
      return 14;
    case 504:
      return 4;
    default:
      return 2;
  }
}

/** Percent-encoding of `grpc-message` (gRPC over HTTP/2, "Responses"). */
const encodeGrpcMessage = (text: string): string =>
  text.replaceAll(/[^ -$&-~]/g, (char) => encodeURIComponent(char));

/** Returns the reply for a request for which no endpoint could be selected. */
export const noSelection = ({ endpoints }: { readonly endpoints: readonly unknown[] }): LocalReply => ({
  status: 503,
  error: endpoints.length === 0 ? "no endpoint" : "circuit breaker open",
});
