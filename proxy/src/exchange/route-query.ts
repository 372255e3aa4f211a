import type { Fields } from "../message/fields.ts";

/**
 * The parts of a request that a route lookup reads. Host is lower case without port and trailing dot; path is
 * normalised.
 */
export type RouteQuery = {
  readonly host: string;
  readonly path: string;
  /** Query with its `?`, or empty. */
  readonly query: string;
  readonly method: string;
  readonly headers: Fields;
  /** Host and port as received, which replace `Host` in HTTP/2 (RFC 9113 8.3.1). */
  readonly authority: string | undefined;
};
