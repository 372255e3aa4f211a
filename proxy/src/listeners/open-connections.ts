import type { ListenerView } from "../exchange/listener-view.ts";
import type { ConnectionGate } from "./connection-gate.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { Closable, SilentConnections } from "./silent-connections.ts";

/** The counters shared by all listeners. */
export type ConnectionCounts = {
  readonly gate: ConnectionGate;
  readonly silent: SilentConnections;
  readonly events: ListenerEvents;
};

/** The connections of one listener from accept to close. Counts them, enforces their limits and ends them. */
export class OpenConnections {
  private readonly counts: ConnectionCounts;
  private readonly view: ListenerView;
  private readonly open = new Set<Closable>();
  /** Silent connections, which have nothing to finish in a drain. */
  private readonly silent = new Set<Closable>();
  private onEmpty: (() => void) | undefined = undefined;

  constructor(counts: ConnectionCounts, view: ListenerView) {
    this.counts = counts;
    this.view = view;
  }

  /**
   * Counts a connection of a listener that may have `max` (0 = no limit). Returns false if it was closed as one too
   * many.
   */
  enter(connection: Closable, max: number): boolean {
    const { events, gate } = this.counts;
    const { port, portLabel } = this.view;
    const limit = gate.enter(port, max);
    if (limit !== undefined) {
      events.onConnectionRefused(portLabel, limit);
      connection.destroy();
      return false;
    }
    this.open.add(connection);
    events.onConnectionOpened(portLabel);
    return true;
  }

  /** Returns the function to call when the connection has been closed. */
  leaver(connection: Closable): () => void {
    const openedMs = performance.now();
    return () => {
      const { port, portLabel } = this.view;
      this.counts.gate.leave(port);
      this.open.delete(connection);
      this.spoke(connection);
      this.counts.events.onConnectionClosed(portLabel, performance.now() - openedMs);
      if (this.open.size === 0) this.onEmpty?.();
    };
  }

  /** Registers a silent connection, which can be evicted for others. `max` is the connection limit of its listener. */
  keepSilent(connection: Closable, ip: string, max: number): void {
    const { events, silent } = this.counts;
    this.silent.add(connection);
    silent.add(connection, { listener: this.view.port, maxOfListener: max, ip }, () => {
      events.onSilentConnectionEnded();
      connection.destroy();
    });
  }

  /** Records that a connection is no longer silent. */
  spoke(connection: Closable): void {
    if (this.silent.delete(connection)) this.counts.silent.delete(connection);
  }

  endSilent(): void {
    for (const connection of this.silent) connection.destroy();
  }

  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Calls back when no connection is open, immediately if there is none now. */
  whenEmpty(call: () => void): void {
    this.onEmpty = call;
    if (this.open.size === 0) call();
  }
}
