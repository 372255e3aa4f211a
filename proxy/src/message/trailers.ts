import { keptFields, plainName } from "./field-list.ts";
import type { Fields } from "./fields.ts";
import type { HeaderList } from "./message.ts";
import { connectionNames, protectedNames } from "./protected-names.ts";

/**
 * Fields that must not arrive as trailers (RFC 9110 6.5.1), in addition to `proxy-*`: fields that frame, route,
 * authenticate or modify the message have been evaluated when its head was read.
 */
const forbidden = new Set([
  ...connectionNames,
  ...protectedNames,
  "cache-control",
  "content-encoding",
  "content-range",
  "content-type",
  "expect",
  "location",
  "max-forwards",
  "proxy",
  "range",
  "set-cookie",
  "via",
  "www-authenticate",
]);

const isUnsafe = (name: string): boolean => forbidden.has(name) || name.startsWith("proxy-");

/**
 * Returns the trailers of a request that may be forwarded after the head `sent`; undefined if none is left. Omits
 * unsafe fields, those that repeat a field of the head, and those of `owned` names (`Filter.ownedFields`): a field that
 * a route sets or removes in the head must not return after the body.
 */
export function relayedTrailers(
  trailers: HeaderList,
  sent: Fields,
  owned: readonly string[],
): HeaderList | undefined {
  const repeated = sent.names(plainName);
  const taken = new Set(owned.map(plainName));
  return withoutTrailers(trailers, (name) => isUnsafe(name) || repeated.has(name) || taken.has(name));
}

/** The result of a gRPC call, which is incomplete without these fields. */
const grpcStatus = new Set(["grpc-status", "grpc-message", "grpc-status-details-bin"]);
const noNames: ReadonlySet<string> = new Set();
/** Fields that describe the original bytes, which the client does not get if a filter transformed the body. */
const digests = new Set(["content-digest", "content-md5", "digest", "repr-digest"]);

/**
 * Returns the trailers of a response that may be forwarded; undefined if none is left. Omits unsafe fields, those of
 * `owned` names (`Filter.ownedResponseFields`), and digests of a body that was `transformed`, but never the status of a
 * gRPC call.
 */
export function relayedResponseTrailers(
  trailers: HeaderList,
  owned: readonly string[],
  { grpc, transformed }: { readonly grpc: boolean; readonly transformed: boolean },
): HeaderList | undefined {
  const taken = owned.length === 0 ? noNames : new Set(owned.map(plainName));
  return withoutTrailers(trailers, (name) => {
    if (grpc && grpcStatus.has(name)) return false;
    return isUnsafe(name) || taken.has(name) || (transformed && digests.has(name));
  });
}

function withoutTrailers(trailers: HeaderList, isDropped: (name: string) => boolean): HeaderList | undefined {
  const kept = keptFields(trailers, (name) => !isDropped(plainName(name)));
  return kept.length === 0 ? undefined : kept;
}
