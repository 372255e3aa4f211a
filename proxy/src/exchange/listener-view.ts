import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Observer } from "./observer.ts";
import type { PortTable } from "./port-table.ts";

/** A port number, and its decimal text. */
export type PublicPort = { readonly port: number; readonly label: string };

/**
 * The listener as seen by the requests that it accepted. `table` is swapped when a snapshot is applied; a request
 * reads it once, so it keeps the table it matched.
 */
export type ListenerView = {
  /** Listener port: the label of metrics and the key of routing. */
  readonly port: number;
  /** `port` as text, for metric labels. */
  readonly portLabel: string;
  /**
   * The ports that clients use, by the kind of the route: a Gateway and the Ingresses can share a socket and still be
   * reached at different ports.
   */
  readonly publicPorts: { readonly [Group in RouteGroup]: PublicPort };
  readonly secure: boolean;
  readonly table: PortTable;
  /** True once the listener drains: responses then ask the client to close the connection. */
  readonly draining: boolean;
  /**
   * How requests without a route or with one of a Gateway are logged and traced; undefined for the observer of the
   * proxy.
   */
  readonly observer?: Observer | undefined;
};
