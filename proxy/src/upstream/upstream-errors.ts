import { type RefusalCode, reasonOfError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";

/** Creates the error of a failed attempt; `text` is fixed wording for the access log. */
export const upstreamError = (
  kind: UpstreamErrorKind,
  text: string,
  options: { readonly requestSent: boolean },
): UpstreamError => ({ kind, text, requestSent: options.requestSent });

/** Returns the error of a failed connect, by its system error code (docs/features/upstream.md, "Errors"). */
export function connectError(code: string | undefined): UpstreamError {
  switch (code) {
    case "ECONNREFUSED":
      return upstreamError("refused", "connection refused", { requestSent: false });
    case "ETIMEDOUT":
      return connectTimeoutError;
    case "EMFILE":
    case "ENFILE":
      return noSocketError("no file descriptor left");
    case "EADDRNOTAVAIL":
      return noSocketError("no local port left");
    default:
      return upstreamError("connect", "connect failed", { requestSent: false });
  }
}

const noSocketError = (text: string): UpstreamError =>
  upstreamError("no-socket", text, { requestSent: false });

export const connectTimeoutError: UpstreamError = upstreamError("connect-timeout", "connect timeout", {
  requestSent: false,
});

/** Creates the error of a connection on which TLS failed or is not possible. No part of a request has been sent. */
export const tlsError = (text: string): UpstreamError => upstreamError("tls", text, { requestSent: false });

/**
 * Returns the error of a failed handshake, by Node's code (docs/features/backend-tls.md, "Errors") or by one of the
 * codes of the check in tls/peer-names.ts.
 */
export function handshakeError(code: string | undefined): UpstreamError {
  switch (code) {
    case nameMismatch:
      return tlsError("upstream certificate has another name");
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return tlsError("upstream certificate out of date");
    default:
      return tlsError(
        code !== undefined && untrusted.test(code)
          ? "upstream certificate not trusted"
          : "upstream TLS handshake failed",
      );
  }
}

/**
 * The code of a certificate chain that is too long, after OpenSSL's name. Node has no option for the length of chains.
 */
export const chainTooLong = "CERT_CHAIN_TOO_LONG";

export const nameMismatch = "ERR_UPSTREAM_NAME_MISMATCH";

/** Matches the names of OpenSSL's verification errors (X509_V_ERR_*). Those about validity dates are handled before. */
const untrusted = /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|INVALID_|PATH_LENGTH|CA_|EE_|ERROR_IN_CERT)/;

/**
 * Reports whether a code is one of Node's for OpenSSL errors. On an established connection, such an error means that
 * the peer sent an alert or violated TLS.
 */
export const isTlsFault = (code: string | undefined): boolean => code?.startsWith("ERR_SSL_") === true;

export const nameError: UpstreamError = upstreamError("connect", "name not resolved", { requestSent: false });

/** The endpoint is a port of the gateway itself (docs/security.md, "Ports of the gateway itself"). */
export const ownPortError: UpstreamError = upstreamError("own-port", "endpoint is a port of the gateway", {
  requestSent: false,
});

/** A host name that a tenant chose resolves to an address that never leaves the node. */
export const nodeLocalError: UpstreamError = upstreamError("own-port", "endpoint is an address of the node", {
  requestSent: false,
});

export type UpstreamErrorKind =
  /** The connect was answered by RST. */
  | "refused"
  /** Any other connect failure, DNS included. */
  | "connect"
  | "connect-timeout"
  /** This process, or its machine, has no socket left; the endpoint is not at fault. */
  | "no-socket"
  | "tls"
  /** The endpoint is a port of the gateway itself or a refused address of the node; no connection is attempted. */
  | "own-port"
  /** The connection ended or was reset before the response was complete. */
  | "reset"
  /** The response violates the protocol or a limit. */
  | "invalid"
  /** No progress within an idle limit. */
  | "timeout"
  /** The request body could not be completed (client disconnected, limit, malformed); the upstream is not at fault. */
  | "request-body";

export type UpstreamError = {
  readonly kind: UpstreamErrorKind;
  /** Short fixed text for the access log, e.g. `connect timeout`. */
  readonly text: string;
  /** Whether the endpoint might have received part of the request. */
  readonly requestSent: boolean;
};

/** Reports whether a failure is attributed to the endpoint, so that its circuit breaker and its load count it. */
export const isFaultOfEndpoint = ({ kind }: Pick<UpstreamError, "kind">): boolean =>
  kind !== "request-body" && kind !== "no-socket";

const reasons: { readonly [Kind in UpstreamErrorKind]: RefusalCode } = {
  refused: "upstream-refused",
  connect: "upstream-unreachable",
  "connect-timeout": "upstream-connect-timeout",
  "no-socket": "upstream-no-socket",
  tls: "upstream-tls",
  "own-port": "upstream-own-port",
  reset: "upstream-reset",
  invalid: "upstream-invalid",
  timeout: "upstream-timeout",
  "request-body": "malformed-body",
};

/** Returns the refusal code of a failure, by its text if that has one, otherwise by its kind. */
export const reasonOfUpstream = ({ kind, text }: Pick<UpstreamError, "kind" | "text">): RefusalCode =>
  reasonOfError(text) ?? reasons[kind];
