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

/** What a listener shares with the others of its worker. */
export type ListenerContext = {
  readonly gate: ConnectionGate;
  /** The connection limit of listeners without one of their own, 0 = no limit. */
  readonly maxConnections: number;
  readonly handshakes: Handshakes;
  readonly silent: SilentConnections;
  readonly events: ListenerEvents;
  readonly log: Logger;
  /** Undefined: every address. */
  readonly bindAddress: string | undefined;
  readonly reusePort: boolean;
  /** How long a connection may stay silent before its first byte, milliseconds, 0 = off. */
  readonly firstByteTimeoutMs: number;
  readonly proxyProtocol: ProxyProtocolSettings;
  /** Accepts without sockets; absent: they are made for all connections. */
  readonly acceptor?: Acceptor | undefined;
  /** Takes connections that are forwarded below HTTP. */
  readonly l4: L4;
  /** Makes the observers of listeners that are logged in a way of their own; absent: none is. */
  readonly observerOf?: ObserverOf | undefined;
  /** Logs connections below HTTP; absent: they are not logged. */
  readonly connectionLog?: ConnectionLog | undefined;
  /** Says to the clients of a listener that it ends; answers how many requests that ended (docs/features/listeners.md, "Shutdown"). */
  readonly sayEnd?: ((listener: ListenerView) => number) | undefined;
  /** Each listener has fronts of its own, so that it can drain alone. */
  createHttp1Front(): Front;
  createHttp2Front(): Front;
};
