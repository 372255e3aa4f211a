import type { ListenerView } from "../exchange/listener-view.ts";
import type { ConnectionGate } from "./connection-gate.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { Closable, SilentConnections } from "./silent-connections.ts";

/** What the connections of all listeners are counted by. */
export type ConnectionCounts = {
  readonly gate: ConnectionGate;
  readonly silent: SilentConnections;
  readonly events: ListenerEvents;
};

/** The connections of one listener, from when they are accepted until they are closed: their number, their limits, their end. */
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

  /** Counts a connection, of which the listener may have `max` (0 = no limit); false: there are too many, and it is closed. */
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

  /** What is to be called when the connection is closed. */
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

  /** Registers a silent connection, which may be evicted for others of a listener that may have `max` of them. */
  keepSilent(connection: Closable, ip: string, max: number): void {
    const { events, silent } = this.counts;
    this.silent.add(connection);
    silent.add(connection, { listener: this.view.port, maxOfListener: max, ip }, () => {
      events.onSilentConnectionEnded();
      connection.destroy();
    });
  }

  /** The connection is no longer silent. */
  spoke(connection: Closable): void {
    if (this.silent.delete(connection)) this.counts.silent.delete(connection);
  }

  endSilent(): void {
    for (const connection of this.silent) connection.destroy();
  }

  destroy(): void {
    for (const connection of this.open) connection.destroy();
  }

  /** Calls back when there is none, at once if that is so now. */
  whenEmpty(call: () => void): void {
    this.onEmpty = call;
    if (this.open.size === 0) call();
  }
}
