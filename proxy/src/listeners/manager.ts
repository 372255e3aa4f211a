import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { ListenerView } from "../exchange/listener-view.ts";
import type { PortTable } from "../exchange/port-table.ts";
import type { Front } from "../http/front.ts";
import type { L4 } from "../l4/l4.ts";
import { emptyPortTable } from "../routing/changing-port-table.ts";
import type { L4Tables } from "../state/l4-tables.ts";
import type { OwnedListener } from "../state/listener-list.ts";
import type { ConnectionLog } from "../telemetry/connection-log.ts";
import type { ObserverOf } from "../telemetry/observer.ts";
import type { Acceptor } from "../sockets/accepting.ts";
import { createCertificateStore, emptyCertificateStore, type ServedName } from "../tls/certificate-store.ts";
import { createHandshakes } from "../tls/handshakes.ts";
import type { TlsSettings } from "../tls/server-options.ts";
import { createTerminators, type Terminator } from "../tls/terminators.ts";
import type { TicketKeyRing } from "../tls/ticket-keys.ts";
import { describeBindFailure, type BindFailure } from "./bind-failure.ts";
import type { ConnectionGate } from "./connection-gate.ts";
import { drainWithin, pause } from "./drain.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { ListenerContext } from "./listener-context.ts";
import { Listener, type ListenerTables } from "./listener.ts";
import type { ProxyProtocolSettings } from "./proxy-protocol/header-policy.ts";
import type { SilentConnections } from "./silent-connections.ts";
import { planSockets, type SocketPlan } from "./socket-plan.ts";
import { UdpListener } from "./udp-listener.ts";

/** The part of a snapshot that listeners serve; `ServingState` fits. Maps are by listener port. */
export type ServingPlan = {
  /** The listeners, each pair of port and protocol once. */
  readonly listeners: readonly OwnedListener[];
  readonly tables: ReadonlyMap<number, PortTable>;
  /** The routes below HTTP, by `protocol/port`. */
  readonly l4: L4Tables;
  readonly tls: ReadonlyMap<number, TlsPort>;
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
  /** The session ticket keys; if undefined, each worker has its own. */
  readonly ticketKeys: TicketKeyRing | undefined;
};

export type ListenerManagerOptions = {
  /** The address to bind; undefined for every address, IPv6 and IPv4. */
  readonly bindAddress: string | undefined;
  /** The local ports of listener ports, if they differ; 0 selects a free one. */
  readonly portMap: ReadonlyMap<number, number>;
  /** Whether other workers listen on the same ports; the kernel then distributes connections over them. */
  readonly reusePort: boolean;
  /** Bounds open client connections; additional ones are closed immediately. */
  readonly gate: ConnectionGate;
  /** Bounds the silent ones among the open connections. */
  readonly silent: SilentConnections;
  /** The connection limit of listeners without their own, 0 = no limit. */
  readonly maxConnections: number;
  /** How long a removed listener may take to finish, in milliseconds, 0 = no limit. */
  readonly drainTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly proxyProtocol: ProxyProtocolSettings;
  /** The interval at which failed binds are retried, in milliseconds. */
  readonly bindRetryMs?: number;
  /** Whether sockets that cannot be bound are logged. Only one worker does so, since all workers fail alike. */
  readonly reportsFailures: boolean;
  readonly tls: TlsSettings;
  /** Accepts connections without sockets; if absent, all connections have sockets. */
  readonly acceptor?: Acceptor | undefined;
  readonly l4: L4;
  readonly observerOf?: ObserverOf;
  readonly connectionLog?: ConnectionLog | undefined;
  /** Notifies the clients of a listener that it ends; if absent, they are not notified. */
  readonly sayEnd?: (listener: ListenerView) => number;
  readonly createHttp1Front: () => Front;
  readonly createHttp2Front: () => Front;
  readonly events: ListenerEvents;
  readonly log: Logger;
};

export type ShutdownTimes = {
  /** How long connections are still accepted, until load balancers have noticed the shutdown. */
  readonly acceptMs: number;
  /** How long requests may finish, counted from the start of the shutdown. */
  readonly graceMs: number;
  /** Additional time after `graceMs`, before the remaining requests are cut. */
  readonly timeoutMs: number;
};

export type ListenerManager = {
  /** Replaces the listeners by those of the plan. Resolves when each new socket is bound or has failed. */
  apply(plan: ServingPlan): Promise<void>;
  /** The views of all listeners over TCP, except those that drain. */
  views(): readonly ListenerView[];
  /** Listener ports whose sockets are open, sorted. */
  boundPorts(): readonly number[];
  /** The local ports of bound UDP listeners. */
  udpPorts(): readonly PortMapping[];
  /** Returns the local port of a bound listener. */
  localPort(port: number): number | undefined;
  /**
   * Shuts down in the order of docs/features/listeners.md, "Shutdown". Resolves when the last connection is closed.
   * Aborting `hurry` cuts the remaining requests immediately.
   */
  shutdown(times: ShutdownTimes, hurry: AbortSignal): Promise<void>;
};

type Entry = {
  plan: SocketPlan;
  readonly listener: Listener | UdpListener;
  tls: TlsPort | undefined;
  clientCerts: ClientCertPort | undefined;
  binding: Promise<void> | undefined;
  /** The bind failure that was logged last. */
  failure: string | undefined;
};

const defaultBindRetryMs = 5000;

/** Creates the manager of a worker's listeners, which are none until the first plan. See docs/features/listeners.md. */
export function createListenerManager(options: ListenerManagerOptions): ListenerManager {
  const { events, log, portMap, drainTimeoutMs, bindRetryMs = defaultBindRetryMs } = options;
  const handshakes = createHandshakes(options.tls, events);
  const terminators = createTerminators(options.tls, log, {
    onSecure: (socket) => handshakes.secured(socket),
    onError: (_, socket) => handshakes.refused(socket),
    onStrictServer: (server) => handshakes.watch(server),
  });
  const context: ListenerContext = {
    gate: options.gate,
    maxConnections: options.maxConnections,
    handshakes,
    silent: options.silent,
    events,
    log,
    bindAddress: options.bindAddress,
    reusePort: options.reusePort,
    firstByteTimeoutMs: options.firstByteTimeoutMs,
    proxyProtocol: options.proxyProtocol,
    acceptor: options.acceptor,
    l4: options.l4,
    observerOf: options.observerOf,
    connectionLog: options.connectionLog,
    sayEnd: options.sayEnd,
    createHttp1Front: options.createHttp1Front,
    createHttp2Front: options.createHttp2Front,
  };
  /** Current listeners by `port/family`. */
  const entries = new Map<string, Entry>();
  const draining = new Set<Listener | UdpListener>();
  let retryTimer: NodeJS.Timeout | undefined;
  let stopping = false;
  let certificatesChanged = false;
  let ticketKeys: TicketKeyRing | undefined;
  let reportedPorts = "";
  /** Returns the bound ports. A port is bound if all its sockets are. */
  const boundPorts = (): readonly number[] => {
    const missing = new Set<number>();
    const bound = new Set<number>();
    for (const { plan, listener } of entries.values()) {
      (listener.localPort === undefined ? missing : bound).add(plan.port);
    }
    return [...bound].filter((port) => !missing.has(port)).sort((a, b) => a - b);
  };

  const report = (): void => {
    const ports = boundPorts();
    events.onListeners({ serving: ports.length, draining: draining.size });
    if (ports.join() === reportedPorts) return;
    reportedPorts = ports.join();
    events.onBoundPorts(ports);
  };

  const bind = async (key: string, entry: Entry): Promise<void> => {
    const { listener, plan } = entry;
    const failure = await listener.bind(portMap.get(plan.port) ?? plan.port);
    entry.binding = undefined;
    if (failure !== undefined) {
      events.onLifecycle("bind_failed");
      await reportFailure(entry, failure);
      return scheduleRetry();
    }
    entry.failure = undefined;
    if (stopping || entries.get(key) !== entry) return void listener.drain();
    log.info({ ...describe(plan), local_port: listener.localPort }, "listener added");
    events.onLifecycle("added");
    report();
  };

  /** Logs the reason why a listener is not bound, once and again when it changes. */
  const reportFailure = async (entry: Entry, failure: BindFailure): Promise<void> => {
    const { plan } = entry;
    const form = `${failure.address} ${failure.port} ${failure.code}`;
    const isKnown = entry.failure === form;
    entry.failure = form;
    if (isKnown || !options.reportsFailures) return;
    const why = await describeBindFailure(failure, plan.family === "udp" ? "udp" : "tcp");
    const whose = plan.owner === "ingress" ? "the Ingresses" : `Gateway ${plan.owner}`;
    const instead = `listener ${plan.port} of ${whose} is not served; the bind is retried every ${bindRetryMs / 1000} s`;
    const fields = { ...describe(plan), local_port: failure.port, reason: failure.code };
    log.error({ ...fields, detail: `${why}; ${instead}` }, "listener cannot be bound");
  };

  /** Binds the sockets that are not bound. Resolves when all attempts have ended, including those already under way. */
  const bindAll = async (): Promise<void> => {
    const attempts: Promise<void>[] = [];
    for (const [key, entry] of entries) {
      if (entry.listener.localPort === undefined) attempts.push((entry.binding ??= bind(key, entry)));
    }
    await Promise.all(attempts);
  };

  const scheduleRetry = (): void => {
    if (stopping) return;
    retryTimer ??= setTimeout(() => {
      retryTimer = undefined;
      void bindAll();
    }, bindRetryMs).unref();
  };

  const remove = (key: string, { listener, plan, tls }: Entry): void => {
    entries.delete(key);
    if (tls !== undefined) certificatesChanged = true;
    if (listener.localPort === undefined) return;
    log.info(describe(plan), "listener removed");
    events.onLifecycle("removed");
    draining.add(listener);
    void drainWithin(listener, drainTimeoutMs === 0 ? undefined : drainTimeoutMs).then(
      ({ durationMs, cut }) => {
        draining.delete(listener);
        log.info(
          { ...describe(plan), duration_ms: Math.round(durationMs), cut: cut ?? 0 },
          cut === undefined ? "listener drained" : "listener drain timed out: connections were cut",
        );
        events.onDrained(durationMs);
        events.onLifecycle(cut === undefined ? "drain_completed" : "drain_exceeded");
        if (cut !== undefined && cut > 0) events.onRequestsForceClosed("drain_exceeded", cut);
        report();
      },
    );
  };

  /** Creates a listener on a port. If draining sessions still hold that port, they are ended. */
  const takeUdpPort = (socket: SocketPlan, tables: ListenerTables): UdpListener => {
    for (const listener of draining) {
      if (listener instanceof UdpListener && listener.port === socket.port) listener.destroy();
    }
    return new UdpListener(socket, tables, context);
  };

  const updateCertificates = ({ tls, clientCerts, ...plan }: ServingPlan): void => {
    if (plan.ticketKeys !== undefined && plan.ticketKeys !== ticketKeys) {
      ticketKeys = plan.ticketKeys;
      terminators.useTicketKeys(ticketKeys);
    }
    for (const entry of entries.values()) {
      const { listener } = entry;
      if (entry.plan.family !== "tls" || listener instanceof UdpListener) continue;
      const port = tls.get(entry.plan.port);
      const clients = clientCerts.get(entry.plan.port);
      if (entry.tls === port && entry.clientCerts === clients) continue;
      entry.tls = port;
      entry.clientCerts = clients;
      listener.certificates =
        port === undefined ? emptyCertificateStore : createCertificateStore(port, terminators, clients);
      certificatesChanged = true;
    }
    if (!certificatesChanged) return;
    certificatesChanged = false;
    const used = new Set<Terminator>();
    const names: ServedName[] = [];
    for (const { listener } of entries.values()) {
      if (listener instanceof UdpListener) continue;
      for (const terminator of listener.certificates.terminators) used.add(terminator);
      names.push(...listener.certificates.names);
    }
    terminators.retain(used);
    events.onServedNames(names);
  };

  /** Updates the routes and certificates of open sockets, without opening or closing any. */
  const updateOpen = (plan: ServingPlan): void => {
    for (const [key, socket] of planSockets(plan.listeners)) {
      entries.get(key)?.listener.update(socket, tablesOf(plan, socket));
    }
    updateCertificates(plan);
  };

  return {
    async apply(plan) {
      if (stopping) return updateOpen(plan);
      const wanted = planSockets(plan.listeners);
      for (const [key, entry] of entries) if (!wanted.has(key)) remove(key, entry);
      for (const [key, socket] of wanted) {
        const tables = tablesOf(plan, socket);
        const entry = entries.get(key);
        if (entry !== undefined) {
          entry.plan = socket;
          entry.listener.update(socket, tables);
        } else {
          entries.set(key, {
            plan: socket,
            listener:
              socket.family === "udp" ? takeUdpPort(socket, tables) : new Listener(socket, tables, context),
            tls: undefined,
            clientCerts: undefined,
            binding: undefined,
            failure: undefined,
          });
        }
      }
      updateCertificates(plan);
      report();
      await bindAll();
    },
    views: () =>
      [...entries.values()].flatMap(({ listener }) => (listener instanceof UdpListener ? [] : listener.view)),
    boundPorts,
    udpPorts: () =>
      [...entries.values()].flatMap(({ plan, listener }) =>
        listener instanceof UdpListener && listener.localPort !== undefined
          ? [{ listenerPort: plan.port, localPort: listener.localPort }]
          : [],
      ),
    localPort(port) {
      for (const { plan, listener } of entries.values()) {
        if (plan.port === port && listener.localPort !== undefined) return listener.localPort;
      }
      return undefined;
    },
    async shutdown({ acceptMs, graceMs, timeoutMs }, hurry) {
      stopping = true;
      clearTimeout(retryTimer);
      const listeners = [...[...entries.values()].map(({ listener }) => listener), ...draining];
      for (const listener of listeners) listener.announceEnd();
      await pause(acceptMs, hurry);
      const restMs = Math.max(0, graceMs - acceptMs) + timeoutMs;
      const outcomes = await Promise.all(listeners.map((listener) => drainWithin(listener, restMs, hurry)));
      const cut = outcomes.reduce((sum, outcome) => sum + (outcome.cut ?? 0), 0);
      if (cut > 0) events.onRequestsForceClosed("shutdown", cut);
    },
  };
}

const tablesOf = (plan: ServingPlan, { port, family }: SocketPlan): ListenerTables => ({
  http: plan.tables.get(port) ?? emptyPortTable,
  l4: family === "http" ? undefined : plan.l4.get(`${family}/${port}`),
});

/**
 * Returns the log fields of a socket. The public port of a Gateway's listener differs from that of the socket if many
 * Gateways share proxies (docs/gateway-api.md, "Shared proxies").
 */
const describe = ({ port, publicPort, owner, family, servesHttps }: SocketPlan): LogFields => ({
  listener: port,
  public_port: publicPort,
  owner,
  protocol: servesHttps ? "https" : family,
});
