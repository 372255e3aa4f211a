import type { CompiledRoute } from "./compiled-route.ts";

/** What a lookup sees of a request. Host is lower case without port and trailing dot; path is normalised. */
export type RouteQuery = {
  readonly host: string;
  readonly path: string;
  /** Query string without `?`, empty when absent. */
  readonly query: string;
  readonly method: string;
  readonly headers: readonly string[];
};

/** The compiled routes of one port. Immutable: an update builds a new one, sharing what did not change. */
export type PortTable = {
  /** The route that serves the request, or undefined (404). */
  match(query: RouteQuery): CompiledRoute | undefined;
};
