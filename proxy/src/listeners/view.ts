import type { PortTable } from "../routing/port-table.ts";

/**
 * What requests see of the listener that accepted them. `table` is swapped when a snapshot is applied; a request
 * reads it once, so it keeps the table it matched.
 */
export type ListenerView = {
  /** Listener port: the label of metrics and the key of routing. */
  readonly port: number;
  /** The same as text, for metric labels. */
  readonly portLabel: string;
  /** Port that clients see, and the same as text. */
  readonly publicPort: number;
  readonly publicPortLabel: string;
  readonly secure: boolean;
  readonly table: PortTable;
  /** True once the listener drains: responses then ask the client to leave. */
  readonly draining: boolean;
};
