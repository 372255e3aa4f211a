import { createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { TlsFacts } from "../exchange/client-connection.ts";
import type { ListenerView, PublicPort } from "../exchange/listener-view.ts";
import type { PortTable } from "../exchange/port-table.ts";
import { verifiedClientOf } from "../http/client-certificate.ts";
import type { Front } from "../http/front.ts";
import type { CompiledL4Route, L4Table } from "../l4/l4-table.ts";
import type { AcceptedConnection } from "../sockets/accepting.ts";
import type { Transport } from "../sockets/transport.ts";
import { resetSocket } from "../sockets/reset.ts";
import { type CertificateStore, emptyCertificateStore } from "../tls/certificate-store.ts";
import type { HandshakeClaim } from "../tls/handshakes.ts";
import type { BindFailure } from "./bind-failure.ts";
import { bindServer } from "./bind.ts";
import { detectProtocol, FirstBytes } from "./detect-protocol.ts";
import type { ListenerContext } from "./listener-context.ts";
import { HandleClient } from "./handle-client.ts";
import { OpenConnections } from "./open-connections.ts";
import { localAddressOf, type Peer, peerOf, plainPeer } from "./peer.ts";
import { readProxyHeader } from "./proxy-protocol/read-header.ts";
import { policyOfListener, policyOfProxy, type ProxyHeaderPolicy } from "./proxy-protocol/header-policy.ts";
import type { Closable } from "./silent-connections.ts";
import type { SocketPlan } from "./socket-plan.ts";

/** The client, from its connection or its PROXY protocol header. */
type Client = { readonly peer: Peer; readonly proxied: boolean };

const keepAliveDelayMs = 60_000;

/** The routes that a listener serves; replaced when a snapshot is applied. */
export type ListenerTables = { readonly http: PortTable; readonly l4: L4Table | undefined };

/**
 * One TCP port: its listening socket, its accepted connections, and the view of it that requests have. Routes,
 * certificates and the public port change in place; the socket is opened and closed only with the listener itself.
 */
export class Listener {
  readonly view: { -readonly [Key in keyof ListenerView]: ListenerView[Key] };
  /** Port of the socket while it is bound. */
  localPort: number | undefined = undefined;
  /** The certificates of new handshakes. */
  certificates: CertificateStore = emptyCertificateStore;
  /** The PROXY protocol rules of new connections. */
  private proxyHeaders: ProxyHeaderPolicy;
  private plan: SocketPlan;
  private l4: L4Table | undefined;
  private readonly context: ListenerContext;
  private readonly server: Server;
  private readonly http1: Front;
  private readonly http2: Front;
  private readonly open: OpenConnections;

  constructor(plan: SocketPlan, tables: ListenerTables, context: ListenerContext) {
    this.context = context;
    this.plan = plan;
    this.l4 = tables.l4;
    this.proxyHeaders = proxyHeadersOf(plan, context);
    this.view = {
      port: plan.port,
      portLabel: String(plan.port),
      publicPorts: publicPortsOf(plan),
      secure: plan.family === "tls",
      table: tables.http,
      draining: false,
      observer: context.observerOf?.(plan.observation),
    };
    this.open = new OpenConnections(context, this.view);
    this.http1 = context.createHttp1Front();
    this.http2 = context.createHttp2Front();
    this.server = createServer(
      // The fronts decide what a half-close of the client means.
      { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs },
      (socket) => this.accept(socket),
    );
  }

  /** Opens the socket on `port`. Returns the failure, or undefined if it is open. */
  async bind(port: number): Promise<BindFailure | undefined> {
    const { log, bindAddress: address, reusePort } = this.context;
    const bound = await bindServer(this.server, { port, address, reusePort });
    if (!bound.ok) return bound.error;
    this.localPort = bound.value;
    this.context.acceptor?.accept(this.server, (accepted) => this.acceptHandle(accepted));
    // Accepting can fail later, when file descriptors run out; the socket stays open.
    this.server.on("error", (error: NodeJS.ErrnoException) => {
      log.error(
        { listener: this.view.port, reason: error.code ?? error.message },
        "connections cannot be accepted",
      );
    });
    return undefined;
  }

  /** Applies the changes that are possible without a new socket. */
  update(plan: SocketPlan, { http, l4 }: ListenerTables): void {
    if (plan.proxyProtocol !== this.plan.proxyProtocol)
      this.proxyHeaders = proxyHeadersOf(plan, this.context);
    if (plan.observation !== this.plan.observation)
      this.view.observer = this.context.observerOf?.(plan.observation);
    this.plan = plan;
    this.l4 = l4;
    this.view.publicPorts = publicPortsOf(plan);
    this.view.table = http;
  }

  /** Asks clients to close their connection after their next response; still accepts connections. */
  announceEnd(): void {
    this.view.draining = true;
  }

  /**
   * Stops accepting, and lets requests, and connections without any, finish. Resolves when the last connection is
   * closed.
   */
  drain(): Promise<void> {
    this.announceEnd();
    this.localPort = undefined;
    this.server.close();
    this.http1.drain();
    this.http2.drain();
    // Deferred by a turn, so that after a pause of the process, data that has arrived meanwhile is read first.
    const grace = setTimeout(() => setImmediate(() => this.open.endSilent()), silentGraceMs).unref();
    return new Promise((resolve) =>
      this.open.whenEmpty(() => {
        clearTimeout(grace);
        resolve();
      }),
    );
  }

  /**
   * Notifies clients that the listener ends, if their protocols allow it. Returns the number of requests that this
   * ended.
   */
  sayEnd(): number {
    return this.context.sayEnd?.(this.view) ?? 0;
  }

  /** Closes all connections now. Returns the number of requests, and connections without any, that were cut. */
  destroy(): number {
    const cut = this.http1.destroy() + this.http2.destroy() + this.context.l4.connections.destroy(this);
    this.open.destroy();
    return cut;
  }

  private accept(socket: Socket): void {
    const peer = peerOf(socket);
    if (peer === undefined) return void socket.destroy();
    socket.on("error", () => {});
    if (!this.open.enter(socket, this.maxConnections)) return;
    socket.once("close", this.open.leaver(socket));
    if (this.proxyHeaders.isRequired) this.readProxyHeader(socket, peer);
    else this.admit(socket, { peer, proxied: false });
  }

  /** Accepts a connection without a socket, or creates a socket if the listener needs one. */
  private acceptHandle(accepted: AcceptedConnection): void {
    const peer = accepted.peer && plainPeer(accepted.peer);
    if (peer === undefined || !this.takesHandles) return this.accept(accepted.toSocket());
    const transport = accepted.open();
    if (!this.open.enter(transport, this.maxConnections)) return;
    transport.whenClosed(this.open.leaver(transport));
    this.keepSilent(transport, peer);
    if (this.plan.family === "tls") this.secureHandle(accepted, transport, peer);
    else this.detectOnHandle(accepted, transport, peer);
  }

  private secureHandle(accepted: AcceptedConnection, transport: Transport, peer: Peer): void {
    this.context.handshakes.startOnHandle({
      transport,
      secure: (tls, onEvents) => accepted.secure(tls, onEvents),
      ip: peer.address,
      onFirstByte: () => this.open.spoke(transport),
      certificates: () => this.certificates,
      claim: (_, read) => {
        if (this.takesHandles) return this.plan.servesHttps ? "terminate" : "refused";
        this.secureSocket(accepted, peer, read);
        return "taken";
      },
      onSecure: (secured, { serverName, protocol, version }) => {
        const entry = this.l4?.find(serverName);
        // A route below HTTP was added for the name while the handshake was under way.
        if (entry === undefined ? !this.plan.servesHttps : entry.mode !== "http") return secured.destroy();
        const front = protocol === "h2" ? this.http2 : this.http1;
        front.take?.(secured, new HandleClient(accepted, peer, this.view, { serverName, version }));
      },
    });
  }

  /** Passes a connection to a socket, which it needs because of a change of the listener since it was accepted. */
  private secureSocket(accepted: AcceptedConnection, peer: Peer, read: Buffer): void {
    const socket = accepted.passToSocket(read);
    if (socket === undefined) return;
    socket.on("error", () => {});
    this.startHandshake(socket, { peer, proxied: false });
  }

  private detectOnHandle(accepted: AcceptedConnection, transport: Transport, peer: Peer): void {
    const first = new FirstBytes(transport, this.context.firstByteTimeoutMs, {
      onProtocol: (protocol, piece, spentMs) => {
        this.open.spoke(transport);
        const front = protocol === "http2" ? this.http2 : this.http1;
        const client = new HandleClient(accepted, peer, this.view);
        front.take?.(transport, client, spentMs).receive(piece);
      },
      onSilent: () => this.context.events.onFirstByteTimeout(),
    });
    transport.start(first);
  }

  /**
   * Whether connections are accepted without sockets. PROXY protocol headers, routes below HTTP, client certificates
   * and codecs of Node need sockets.
   */
  private get takesHandles(): boolean {
    if (this.proxyHeaders.isRequired || this.http1.take === undefined || this.http2.take === undefined)
      return false;
    if (this.plan.family === "http") return true;
    return this.plan.family === "tls" && this.l4 === undefined && !this.certificates.asksClients;
  }

  private get maxConnections(): number {
    return this.plan.maxConnections ?? this.context.maxConnections;
  }

  private keepSilent(connection: Closable, { address }: Peer): void {
    this.open.keepSilent(connection, address, this.maxConnections);
  }

  private readProxyHeader(socket: Socket, peer: Peer): void {
    const { events, proxyProtocol } = this.context;
    if (!this.proxyHeaders.isTrusted(peer)) {
      events.onProxyHeaderRefused("proxy-protocol-peer");
      socket.destroy();
      return;
    }
    this.keepSilent(socket, peer);
    readProxyHeader(socket, proxyProtocol.timeoutMs, {
      onHeader: (source) => {
        this.open.spoke(socket);
        this.admit(socket, { peer: source ?? peer, proxied: source !== undefined });
      },
      onRefused: (reason) => events.onProxyHeaderRefused(reason),
    });
  }

  private admit(socket: Socket, client: Client): void {
    switch (this.plan.family) {
      case "tls":
        return this.secure(socket, client);
      case "tcp":
        return this.forward(socket, socket, client, this.l4?.find("")?.route, "");
      default:
        return this.detect(socket, client);
    }
  }

  private forward(
    socket: Socket,
    plain: Socket,
    { peer }: Client,
    route: CompiledL4Route | undefined,
    serverName: string,
  ): void {
    if (route === undefined || socket.destroyed) return resetSocket(plain);
    const { port, portLabel, secure, observer } = this.view;
    this.context.l4.connections.accept({
      socket,
      plain,
      owner: this,
      port,
      portLabel,
      clientIp: peer.address,
      secure,
      serverName,
      route,
      log: observer?.accessLog.enabled === false ? undefined : this.context.connectionLog,
    });
  }

  /** Decides by the server name what happens to a TLS connection. */
  private claim(socket: Socket, client: Client, serverName: string | undefined): HandshakeClaim {
    const entry = serverName === undefined ? undefined : this.l4?.find(serverName);
    if (entry === undefined) return this.plan.servesHttps ? "terminate" : "refused";
    if (entry.mode === "http") return "terminate";
    if (entry.route === undefined) return "refused";
    if (entry.mode === "terminate") return "terminate";
    this.forward(socket, socket, client, entry.route, serverName ?? "");
    return "taken";
  }

  private detect(socket: Socket, client: Client): void {
    this.keepSilent(socket, client.peer);
    detectProtocol(socket, this.context.firstByteTimeoutMs, {
      onProtocol: (protocol, spentMs) => {
        this.open.spoke(socket);
        this.handOver(protocol === "http2" ? this.http2 : this.http1, socket, client, undefined, spentMs);
      },
      onSilent: () => this.context.events.onFirstByteTimeout(),
    });
  }

  private secure(socket: Socket, client: Client): void {
    this.keepSilent(socket, client.peer);
    this.startHandshake(socket, client);
  }

  private startHandshake(socket: Socket, client: Client): void {
    this.context.handshakes.start({
      socket,
      ip: client.peer.address,
      onFirstByte: () => this.open.spoke(socket),
      certificates: () => this.certificates,
      claim: (serverName) => this.claim(socket, client, serverName),
      onSecure: (tlsSocket: TLSSocket, serverName, policy, verification) => {
        const entry = this.l4?.find(serverName);
        if (entry === undefined ? !this.plan.servesHttps : entry.mode !== "http") {
          // Deferred by a turn: a reset of the underlying socket during the completion of the handshake would end the
          // process.
          return void setImmediate(() => this.forward(tlsSocket, socket, client, entry?.route, serverName));
        }
        const front = tlsSocket.alpnProtocol === "h2" ? this.http2 : this.http1;
        const verified = verifiedClientOf(tlsSocket, policy, verification);
        const version = tlsSocket.getProtocol() ?? "unknown";
        this.handOver(front, tlsSocket, client, {
          serverName,
          version,
          ...(verified && { client: verified }),
        });
      },
    });
  }

  private handOver(
    front: Front,
    socket: Socket,
    { peer, proxied }: Client,
    tls: TlsFacts | undefined,
    spentMs = 0,
  ): void {
    const connection = {
      remoteAddress: peer.address,
      remotePort: peer.port,
      localAddress: localAddressOf(socket),
      proxied,
      listener: this.view,
      tls,
    };
    front.accept(socket, connection, spentMs);
  }
}

/**
 * How long a draining listener waits for the first byte of accepted connections. Closing them immediately would reset
 * those whose request is arriving.
 */
const silentGraceMs = 250;

/** Returns the public port of each group. A group without its own listener on the port has no routes there either. */
function publicPortsOf({ publicPort, publicPorts }: SocketPlan): ListenerView["publicPorts"] {
  const of = (port = publicPort): PublicPort => ({ port, label: String(port) });
  return { gateway: of(publicPorts.gateway), ingress: of(publicPorts.ingress) };
}

const proxyHeadersOf = (
  { proxyProtocol }: SocketPlan,
  context: Pick<ListenerContext, "proxyProtocol">,
): ProxyHeaderPolicy =>
  proxyProtocol === undefined ? policyOfProxy(context.proxyProtocol) : policyOfListener(proxyProtocol);
