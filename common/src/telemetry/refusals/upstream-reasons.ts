import { reason } from "./reason.ts";

/** Failures on the side of the backend. */
export const upstreamReasons = {
  "no-endpoint": reason(503, "no endpoint", "The Service has no usable endpoint."),
  "circuit-breaker-open": reason(
    503,
    "circuit breaker open",
    "All endpoints are behind open circuit breakers.",
  ),
  "upstream-own-port": reason(
    503,
    ["endpoint is a port of the gateway", "endpoint is an address of the node"],
    "The endpoint is one that is never connected to.",
  ),
  "upstream-refused": reason(502, "connection refused", "The endpoint refused the connection."),
  "upstream-unreachable": reason(502, "connect failed", "No connection to the endpoint: no route, or reset."),
  "upstream-no-socket": reason(
    502,
    ["no file descriptor left", "no local port left"],
    "The proxy has no socket for a connection: its limit of open files, or the ports of its address, are used up.",
  ),
  "upstream-name": reason(502, "name not resolved", "The name of the backend has no address."),
  "upstream-connect-timeout": reason(
    502,
    ["connect timeout", "upstream TLS handshake timeout", "no HTTP/2 settings in time"],
    "No connection, TLS handshake or HTTP/2 settings in time.",
  ),
  "upstream-tls": reason(
    502,
    ["upstream TLS handshake failed", "upstream does not agree on the protocol", "upstream broke off TLS"],
    "The TLS handshake failed, or the endpoint broke off TLS.",
  ),
  "upstream-certificate-name": reason(
    502,
    "upstream certificate has another name",
    "The certificate of the endpoint is for another name.",
  ),
  "upstream-certificate-date": reason(
    502,
    "upstream certificate out of date",
    "The certificate of the endpoint has expired, or is not valid yet.",
  ),
  "upstream-certificate-untrusted": reason(
    502,
    "upstream certificate not trusted",
    "No trusted authority issued the certificate of the endpoint.",
  ),
  "upstream-tls-unusable": reason(
    502,
    [
      "upstream TLS policy not usable",
      "no valid client certificate for upstream",
      "certificates for upstream cannot be loaded",
    ],
    "The TLS settings for the backend cannot be used, so no request is sent.",
  ),
  "upstream-reset": reason(
    502,
    ["upstream reset", "connection reset"],
    "The endpoint reset the connection, or the stream of HTTP/2 (`stream reset: <code>`).",
  ),
  "upstream-closed": reason(
    502,
    ["upstream closed", "connection closed", "connection closed with GOAWAY"],
    "The endpoint closed the connection before its response was complete.",
  ),
  "upstream-refused-stream": reason(
    502,
    "stream refused",
    "The HTTP/2 endpoint has not processed the request.",
  ),
  "upstream-invalid": reason(
    502,
    [
      "response header too large for HTTP/2",
      "upgrade refused with a success",
      "upgrade not possible",
      "response does not match its head",
    ],
    "The response breaks its protocol or a limit; `error` says how.",
  ),
  "upstream-timeout": reason(504, "upstream request timeout", "The time of one attempt was over."),
  "upstream-read-timeout": reason(
    504,
    "upstream read timeout",
    "The response, or its next part, did not come in time.",
  ),
  "upstream-send-timeout": reason(
    504,
    "upstream send timeout",
    "The endpoint did not take the request in time.",
  ),
} as const;

/** Failures of mirrored copies, which clients do not see. */
export const mirrorReasons = {
  "mirror-timeout": reason(504, "mirror timeout", "The copy was not answered in time."),
  "mirror-no-answer": reason(
    502,
    "no answer",
    "The host of the gateway that the copy was sent to ended its response before it was complete.",
  ),
  "mirror-body": reason(
    "any",
    "mirror too slow for the request body",
    "The rest of the body was not copied.",
  ),
  "mirror-upgrade": reason("any", "unexpected upgrade", "The answer to the copy was an upgrade."),
} as const;
