import { reason } from "./reason.ts";

/** Failures caused by the client: by its message, or because it disconnected or was too slow. */
export const clientReasons = {
  malformed: reason(400, "malformed", "The head breaks RFC 9112 or RFC 9113."),
  "malformed-address": reason(
    400,
    "malformed host or target",
    "Host, `:authority` or target is missing or invalid.",
  ),
  "malformed-path": reason(400, "malformed path", "The path or query cannot be normalised."),
  "malformed-body": reason(
    400,
    ["malformed-body", "malformed request body"],
    "The body ended early, or its chunked coding is broken.",
  ),
  "no-redirect-host": reason(
    400,
    "no host to redirect to",
    "HTTP/1.0 without Host where a redirect needs one.",
  ),
  "method-not-allowed": reason(405, "method not allowed", "`TRACE` or `CONNECT`."),
  "header-timeout": reason(408, "header-timeout", "The head did not arrive in time."),
  "body-timeout": reason(408, "request body timeout", "The client stopped sending the body."),
  "uri-too-long": reason(
    414,
    "uri-too-long",
    "The target, or the method of an HTTP/1.1 request, is over `--proxy-max-uri-size`.",
  ),
  "unknown-expectation": reason(417, "unknown expectation", "An `Expect` other than `100-continue`."),
  "header-too-large": reason(431, "header-too-large", "The header is over `--proxy-max-header-size`."),
  "too-many-headers": reason(431, "too-many-headers", "More fields than `--proxy-max-headers`."),
  "client-closed": reason(499, "client closed", "The client left before the response had ended."),
  "client-write-timeout": reason(
    499,
    "client write timeout",
    "The client read (almost) nothing of the response.",
  ),
  "unknown-coding": reason(501, "unknown-coding", "A transfer coding other than one `chunked`."),
  "unknown-method": reason(
    501,
    "unknown-method",
    "No method that the parser of HTTP/1 knows (`--http1-codec node`).",
  ),
  "unknown-version": reason(505, "unknown-version", "A version of HTTP that the connection cannot have."),
} as const;

/** Failures caused by the connection of the request. */
export const listenerReasons = {
  "misdirected-host": reason(
    421,
    "host belongs to another listener than the connection",
    "The server name of the connection selects another listener than the host.",
  ),
  "misdirected-client": reason(
    421,
    "connection lacks the client certificate that the host requires",
    "The connection was opened for a host that requires no, or another, client certificate.",
  ),
} as const;

/** Requests that no route serves. */
export const routingReasons = {
  "no-route": reason(404, "no route", "No host, or no rule of the host, matches."),
  "regex-budget": reason(
    414,
    "request too long for regex matching",
    "A value is too long for the regular expressions of the host.",
  ),
  "no-backend": reason(500, "no backend", "The rule has no backend, or all weights are 0."),
  "backend-unavailable": reason(
    "any",
    "backend unavailable",
    "The reference of the backend is invalid (500), or the Service does not exist (503).",
  ),
  "filter-unresolved": reason(
    500,
    "filter not resolved",
    "A filter of the rule or of the backend does not exist, or is not supported.",
  ),
} as const;

/** Failures of the proxy itself. */
export const proxyReasons = {
  "filter-failed": reason(500, "filter failed", "An error in the proxy; the log has its stack."),
  "handler-failed": reason(500, "handler-failed", "An error in the proxy; the log has its stack."),
  "request-timeout": reason(504, "request timeout", "The time of the whole request was over."),
  "idle-timeout": reason(504, "idle timeout", "No byte passed in either direction for too long."),
  "proxy-loop": reason(508, "proxy loop", "The request has passed through this proxy ten times."),
  "response-memory": reason(
    "any",
    "response memory full",
    "Too many responses waited to be read by their clients.",
  ),
  "transformation-failed": reason(
    502,
    "response transformation failed",
    "A filter could not change the body of the response.",
  ),
  "shutting-down": reason(
    "any",
    ["shutdown", "proxy shutting down"],
    "The proxy ended before the request did.",
  ),
} as const;
