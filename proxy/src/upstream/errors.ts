import type { UpstreamError, UpstreamErrorKind } from "./upstream.ts";

/** A failure of one attempt; `text` is fixed wording for the access log. */
export const upstreamError = (
  kind: UpstreamErrorKind,
  text: string,
  options: { readonly requestSent: boolean },
): UpstreamError => ({ kind, text, requestSent: options.requestSent });

/** What a failed connect means (docs/features/upstream.md, "Errors"). */
export function connectError(code: string | undefined): UpstreamError {
  switch (code) {
    case "ECONNREFUSED":
      return upstreamError("refused", "connection refused", { requestSent: false });
    case "ETIMEDOUT":
      return connectTimeoutError;
    default:
      return upstreamError("connect", "connect failed", { requestSent: false });
  }
}

export const connectTimeoutError: UpstreamError = upstreamError("connect-timeout", "connect timeout", {
  requestSent: false,
});

export const nameError: UpstreamError = upstreamError("connect", "name not resolved", { requestSent: false });
