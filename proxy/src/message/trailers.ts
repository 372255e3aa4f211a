import { plainName } from "./fields.ts";
import type { HeaderList, ReadonlyHeaderList } from "./message.ts";

/**
 * Fields that must not arrive as trailers (RFC 9110 6.5.1): what frames, routes, authenticates or modifies the
 * message was decided when its head was read. Besides them `proxy-*`.
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
  "proxy",
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

const isUnsafe = (name: string): boolean => forbidden.has(name) || name.startsWith("proxy-");

/**
 * The trailers of a request that may go on after the head `sent`. Besides the unsafe ones those are left out that repeat a
 * field of the head, and those of `owned` names (`Filter.ownedFields`): what a route puts in or takes away in the head
 * must not come back behind the body. Undefined when none is left.
 */
export function relayedTrailers(
  trailers: HeaderList,
  sent: ReadonlyHeaderList,
  owned: readonly string[],
): HeaderList | undefined {
  const taken = new Set(owned.map(plainName));
  for (let i = 0; i < sent.length; i += 2) taken.add(plainName(sent[i] as string));
  return withoutTrailers(trailers, (name) => isUnsafe(name) || taken.has(name));
}

/** How a gRPC call ended: without these there is no answer. */
const grpcStatus = new Set(["grpc-status", "grpc-message", "grpc-status-details-bin"]);
/** About bytes that the client does not get where a filter has made others of them. */
const digests = new Set(["content-digest", "content-md5", "digest", "repr-digest"]);

/**
 * The trailers of a response that may go on. Besides the unsafe ones those of `owned` names are left out
 * (`Filter.ownedResponseFields`), except the status of a gRPC call, and digests of a body that was `transformed`.
 * Undefined when none is left.
 */
export function relayedResponseTrailers(
  trailers: HeaderList,
  owned: readonly string[],
  { grpc, transformed }: { readonly grpc: boolean; readonly transformed: boolean },
): HeaderList | undefined {
  const taken = new Set(owned.map(plainName));
  return withoutTrailers(trailers, (name) => {
    if (grpc && grpcStatus.has(name)) return false;
    return isUnsafe(name) || taken.has(name) || (transformed && digests.has(name));
  });
}

function withoutTrailers(trailers: HeaderList, isDropped: (name: string) => boolean): HeaderList | undefined {
  const kept: HeaderList = [];
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i] as string;
    if (!isDropped(plainName(name))) kept.push(name, trailers[i + 1] as string);
  }
  return kept.length === 0 ? undefined : kept;
}
