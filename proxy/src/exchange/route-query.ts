import type { Fields } from "../message/fields.ts";

/** What a lookup sees of a request. Host is lower case without port and trailing dot; path is normalised. */
export type RouteQuery = {
  readonly host: string;
  readonly path: string;
  /** Query with its `?`, or empty. */
  readonly query: string;
  readonly method: string;
  readonly headers: Fields;
};
