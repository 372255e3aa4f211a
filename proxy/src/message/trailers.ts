import { keptFields, plainName } from "./field-list.ts";
import type { Fields } from "./fields.ts";
import type { HeaderList } from "./message.ts";
import { connectionNames, protectedNames } from "./protected-names.ts";

/**
 * Fields that must not arrive as trailers (RFC 9110 6.5.1): what frames, routes, authenticates or modifies the
 * message was decided when its head was read. Besides them `proxy-*`.
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
 * The trailers of a request that may go on after the head `sent`. Besides the unsafe ones those are left out that repeat a
 * field of the head, and those of `owned` names (`Filter.ownedFields`): what a route puts in or takes away in the head
 * must not come back behind the body. Undefined when none is left.
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

/** How a gRPC call ended: without these there is no answer. */
const grpcStatus = new Set(["grpc-status", "grpc-message", "grpc-status-details-bin"]);
const noNames: ReadonlySet<string> = new Set();
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
