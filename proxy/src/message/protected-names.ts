/** Names of fields, in lower case, that a client or an upstream must not slip past a check. */

/** What the proxy says about the client (docs/features/forwarding.md): never taken from the client itself. */
export const forwardingNames: readonly string[] = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-ssl-client-cert",
];

/** What routes, frames or authenticates a message, and what the proxy says about the client. */
export const protectedNames: readonly string[] = [
  "authorization",
  "content-length",
  "cookie",
  "host",
  ...forwardingNames,
];

/** Fields that concern one connection only (RFC 9110 7.6.1); besides them `proxy-*`. */
export const connectionNames: readonly string[] = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
