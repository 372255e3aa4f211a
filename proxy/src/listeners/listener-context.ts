import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { ListenerView } from "../exchange/listener-view.ts";
import type { Front } from "../http/front.ts";
import type { L4 } from "../l4/l4.ts";
import type { Acceptor } from "../sockets/accepting.ts";
import type { ConnectionLog } from "../telemetry/connection-log.ts";
import type { ObserverOf } from "../telemetry/observer.ts";
import type { Handshakes } from "../tls/handshakes.ts";
import type { ConnectionGate } from "./connection-gate.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { ProxyProtocolSettings } from "./proxy-protocol/header-policy.ts";
import type { SilentConnections } from "./silent-connections.ts";

/** The dependencies and settings that the listeners of a worker share. */
export type ListenerContext = {
  readonly gate: ConnectionGate;
  /** The connection limit of listeners without their own, 0 = no limit. */
  readonly maxConnections: number;
  readonly handshakes: Handshakes;
  readonly silent: SilentConnections;
  readonly events: ListenerEvents;
  readonly log: Logger;
  /** The address to bind; undefined for every address. */
  readonly bindAddress: string | undefined;
  readonly reusePort: boolean;
  /** How long a connection may be silent before its first byte, in milliseconds, 0 = no limit. */
  readonly firstByteTimeoutMs: number;
  readonly proxyProtocol: ProxyProtocolSettings;
  /** Accepts connections without sockets; if absent, all connections have sockets. */
  readonly acceptor?: Acceptor | undefined;
  /** Forwards connections below HTTP. */
  readonly l4: L4;
  /** Creates the observers of listeners with their own log settings; absent if no listener has any. */
  readonly observerOf?: ObserverOf | undefined;
  /** Logs connections below HTTP; if absent, they are not logged. */
  readonly connectionLog?: ConnectionLog | undefined;
  /**
   * Notifies the clients of a listener of its end (docs/features/listeners.md, "Shutdown"). Returns the number of
   * requests that this ended.
   */
  readonly sayEnd?: ((listener: ListenerView) => number) | undefined;
  /** Creates a front for one listener. Listeners do not share fronts, so that each can drain independently. */
  createHttp1Front(): Front;
  createHttp2Front(): Front;
};
