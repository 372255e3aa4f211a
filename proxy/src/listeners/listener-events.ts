import type { ConnectionLimit } from "./connection-gate.ts";
import type { ServedName } from "../tls/certificate-store.ts";
import type { ProxyHeaderRefusal } from "./proxy-protocol/read-header.ts";
import type { HandshakeResult } from "../tls/handshake-result.ts";

/** Values of the `event` label of `svc_proxy_listener_lifecycle_total`. */
export type LifecycleEvent = "added" | "removed" | "drain_completed" | "drain_exceeded" | "bind_failed";

/** The events of listeners. All calls are synchronous and must not throw. */
export type ListenerEvents = {
  onLifecycle(event: LifecycleEvent): void;
  /** The last connection of a removed listener was closed, on its own or by force. */
  onDrained(durationMs: number): void;
  /** The numbers of listeners that accept connections, and of those that only finish theirs. */
  onListeners(counts: { readonly serving: number; readonly draining: number }): void;
  /** The bound listener ports, sorted, for the report to the controller. */
  onBoundPorts(ports: readonly number[]): void;
  /** `listener` is the listener port as text. */
  onConnectionOpened(listener: string): void;
  onConnectionClosed(listener: string, durationMs: number): void;
  /** A connection was closed immediately, because the limit of the proxy or of the listener was reached. */
  onConnectionRefused(listener: string, limit: ConnectionLimit): void;
  /** A connection was closed because it sent no byte within the time limit of its first request head. */
  onFirstByteTimeout(): void;
  /** A silent connection was closed because there were too many of them. */
  onSilentConnectionEnded(): void;
  /** A connection was closed because its PROXY protocol header was refused or missing. */
  onProxyHeaderRefused(reason: ProxyHeaderRefusal): void;
  onRequestsForceClosed(reason: "drain_exceeded" | "shutdown", requests: number): void;
  onHandshake(result: HandshakeResult): void;
  /** The server names of all ports, after they changed. */
  onServedNames(names: readonly ServedName[]): void;
};
