import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Observer } from "./observer.ts";
import type { PortTable } from "./port-table.ts";

/** A port, and the same as text. */
export type PublicPort = { readonly port: number; readonly label: string };

/**
 * What requests see of the listener that accepted them. `table` is swapped when a snapshot is applied; a request
 * reads it once, so it keeps the table it matched.
 */
export type ListenerView = {
  /** Listener port: the label of metrics and the key of routing. */
  readonly port: number;
  /** The same as text, for metric labels. */
  readonly portLabel: string;
  /**
   * The port that clients see, by whose route serves them: a Gateway and the Ingresses may share a socket, and each has said
   * for itself where clients find it.
   */
  readonly publicPorts: { readonly [Group in RouteGroup]: PublicPort };
  readonly secure: boolean;
  readonly table: PortTable;
  /** True once the listener drains: responses then ask the client to close the connection. */
  readonly draining: boolean;
  /** How requests are logged that routes of Gateways serve, or no route; undefined: as all of the proxy. */
  readonly observer?: Observer | undefined;
};
