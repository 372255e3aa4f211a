/** Names of fields, in lower case, that a client or an upstream must not be able to smuggle past a check. */

/** Fields by which the proxy describes the client (docs/features/forwarding.md); never accepted from clients. */
export const forwardingNames: readonly string[] = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-ssl-client-cert",
];

/** Fields that route, frame or authenticate a message, and those by which the proxy describes the client. */
export const protectedNames: readonly string[] = [
  "authorization",
  "content-length",
  "cookie",
  "host",
  ...forwardingNames,
];

/** Fields that concern one connection only (RFC 9110 7.6.1), except `proxy-*`. */
export const connectionNames: readonly string[] = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
