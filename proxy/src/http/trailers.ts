import type { HeaderList } from "./message.ts";

/**
 * Fields that must not arrive as trailers (RFC 9110 6.5.1): what frames, routes, authenticates or modifies the
 * message was decided when its head was read.
 */
const forbidden = new Set([
  "authorization",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "keep-alive",
  "location",
  "max-forwards",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "range",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "www-authenticate",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-ssl-client-cert",
]);

/** The trailers that may be relayed; undefined when none is left. */
export function withoutUnsafeTrailers(trailers: HeaderList): HeaderList | undefined {
  const kept: HeaderList = [];
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i] as string;
    if (!forbidden.has(name.toLowerCase())) kept.push(name, trailers[i + 1] as string);
  }
  return kept.length === 0 ? undefined : kept;
}
