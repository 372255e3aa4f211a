import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import type { ServerTls, ServerTlsEvents } from "../sockets/accepting.ts";
import { resetSocket } from "../sockets/reset.ts";
import type { Transport } from "../sockets/transport.ts";
import { refuseWithAlert } from "./alert.ts";
import type { CertificateStore } from "./certificate-store.ts";
import type { ClientHello } from "./client-hello.ts";
import { type ClientPolicy, refusalOf, verificationOf } from "./client-validation.ts";
import { createHandshakeNotebook } from "./handshake-notes.ts";
import { type HandshakePlace, HandshakePlaces } from "./handshake-places.ts";
import type { HandshakeEvents, HandshakeResult } from "./handshake-result.ts";
import { HelloReader, readClientHello } from "./read-client-hello.ts";
import type { TlsSettings } from "./server-options.ts";

/** The decision about a connection once its server name is known: it is terminated, was passed on, or is refused. */
export type HandshakeClaim = "terminate" | "taken" | "refused";

type AnyHandshakeRequest = {
  /** The client's address, without zone. Its network shares the available places with others. */
  readonly ip: string;
  /** Called on the first byte. Before that, the connection is not a handshake, and its listener bounds it. */
  readonly onFirstByte?: () => void;
  /** Called when the server name is known, so that a handshake uses the newest certificates. */
  readonly certificates: () => CertificateStore;
};

/** A handshake of a connection that has a socket. */
export type HandshakeRequest = AnyHandshakeRequest & {
  readonly socket: Socket;
  /**
   * Called before TLS receives anything, with the server name, or undefined for bytes that are not a ClientHello or too
   * many; the bytes are put back. Refused connections are reset. If absent, all connections are terminated.
   */
  readonly claim?: (serverName: string | undefined) => HandshakeClaim;
  /**
   * Called when the handshake is complete and the client is admitted; the TLS socket belongs to the receiver. `policy`
   * has the rules by which the client's certificate was checked. `verification` is their result if it is judged per
   * request.
   */
  readonly onSecure: (
    socket: TLSSocket,
    serverName: string,
    policy: ClientPolicy | undefined,
    verification?: string,
  ) => void;
};

/** A handshake of a connection that has no socket. No client certificate is requested. */
export type HandleHandshakeRequest = AnyHandshakeRequest & {
  readonly transport: Transport;
  /** The same as `claim` for sockets, with the bytes that have been read, which are valid until it returns. */
  readonly claim: (serverName: string | undefined, read: Buffer) => HandshakeClaim;
  /** Begins TLS on the connection. */
  readonly secure: (tls: ServerTls, events: ServerTlsEvents) => void;
  readonly onSecure: (transport: Transport, facts: SecureFacts) => void;
};

/** The outcome of a handshake of a connection without a socket. */
export type SecureFacts = {
  readonly serverName: string;
  readonly protocol: string | false;
  readonly version: string;
};

/** TLS handshakes under way, which are limited in number and in time. */
export type Handshakes = {
  start(request: HandshakeRequest): void;
  startOnHandle(request: HandleHandshakeRequest): void;
  /** Called by the terminators for a server whose clients can be refused when their handshakes are complete. */
  watch(server: Server): void;
  /** Called by the terminators when a handshake is complete. */
  secured(socket: TLSSocket): void;
  /** Called by the terminators when TLS refused the client with an alert. */
  refused(socket: TLSSocket): void;
  /** The number of connections whose handshake is not complete, including those that have sent nothing. */
  readonly pending: number;
  /** The number of these connections whose ClientHello has arrived, which `maxHandshakes` bounds. */
  readonly shaking: number;
};

/** TLS alert record: fatal (2) unrecognized_name (112), RFC 8446 6.2. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

type Pending = HandshakeRequest & {
  readonly key: string;
  readonly place: HandshakePlace;
  serverName: string;
  policy: ClientPolicy | undefined;
};

/**
 * Creates the handshakes of a worker. The ClientHello is read from the plain connection before Node's TLS receives
 * anything, to select the terminator or to send an alert for an unknown name.
 */
export function createHandshakes(settings: TlsSettings, events: HandshakeEvents): Handshakes {
  const places = new HandshakePlaces(settings, events);
  /** Pending handshakes by the addresses of the connection, which its plain and its TLS socket share. */
  const pending = new Map<string, Pending>();
  const notebook = createHandshakeNotebook();

  const forget = ({ key, place }: Pending): void => {
    pending.delete(key);
    places.forget(place);
  };

  const refuseName = (place: HandshakePlace): void => {
    places.forget(place);
    events.onHandshake({ result: "fail", version: "unknown", reason: "unknown server name" });
  };

  const select = (handshake: Pending, hello: ClientHello | undefined): void => {
    const { socket, place } = handshake;
    places.endBegun(place);
    const claim = handshake.claim?.(hello?.serverName) ?? "terminate";
    if (claim === "taken") return forget(handshake);
    if (claim === "refused") {
      refuseName(place);
      resetSocket(socket);
      return;
    }
    if (!places.shake(place)) return;
    const { serverName, ticketKeyName } = hello ?? noHello;
    handshake.serverName = serverName;
    const selected = handshake.certificates().select(serverName);
    if (selected !== undefined) {
      handshake.policy = selected.policy;
      // TLSSocket inherits this, because a client that ends its side cannot complete a handshake.
      socket.allowHalfOpen = false;
      selected.terminator.server(ticketKeyName).emit("connection", socket);
      return;
    }
    socket.end(unrecognizedName, () => places.fail(place, "unknown server name"));
  };

  const start = (request: HandshakeRequest): void => {
    const { socket } = request;
    const key = keyOf(socket);
    if (key === undefined) return void socket.destroy();
    const place = places.take(socket, request.ip, request.onFirstByte);
    const handshake: Pending = { ...request, key, place, serverName: "", policy: undefined };
    pending.set(key, handshake);
    socket.on("error", () => {});
    socket.on("close", () => {
      if (pending.get(key) === handshake) pending.delete(key);
      places.fail(place, place.failure);
    });
    readClientHello(socket, {
      onBegun: () => places.begin(place),
      onHello: (hello) => select(handshake, hello),
    });
  };

  const selectOnHandle = (
    request: HandleHandshakeRequest,
    place: HandshakePlace,
    hello: ClientHello | undefined,
    read: Buffer,
  ): void => {
    const { transport } = request;
    places.endBegun(place);
    const { serverName, ticketKeyName } = hello ?? noHello;
    const claim = request.claim(hello?.serverName, read);
    if (claim === "taken") return places.forget(place);
    if (claim === "refused") {
      refuseName(place);
      return transport.reset();
    }
    if (!places.shake(place)) return;
    const selected = request.certificates().select(serverName);
    if (selected === undefined) {
      transport.writeBytes("", unrecognizedName, "");
      return places.fail(place, "unknown server name");
    }
    const { terminator, policy } = selected;
    const context = policy === undefined ? terminator.context(ticketKeyName) : undefined;
    // Names with rules for client certificates need sockets.
    if (context === undefined) return places.fail(place, "failed");
    const { protocols } = terminator;
    request.secure(
      { context, protocols, read },
      {
        onSecure(secured, { protocol, version }) {
          places.forget(place);
          events.onHandshake({ result: "ok", version: knownVersion(version) });
          request.onSecure(secured, { serverName, protocol, version });
        },
      },
    );
  };

  const startOnHandle = (request: HandleHandshakeRequest): void => {
    const { transport } = request;
    const place = places.take(transport, request.ip, request.onFirstByte);
    transport.whenClosed(() => places.fail(place, place.failure));
    const reader = new HelloReader(transport, {
      onBegun: () => places.begin(place),
      onHello: (hello, read) => selectOnHandle(request, place, hello, read),
    });
    transport.start(reader);
  };

  return {
    start,
    startOnHandle,
    watch: (server) => notebook.watch(server),
    secured(socket) {
      const key = keyOf(socket);
      const handshake = key === undefined ? undefined : pending.get(key);
      if (handshake === undefined || !places.has(handshake.place)) {
        socket.destroy();
        return;
      }
      forget(handshake);
      const { policy } = handshake;
      const { presented, serverSecret } = notebook.of(socket);
      const refusal = policy === undefined ? undefined : refusalOf(socket, presented, policy);
      if (refusal !== undefined) {
        events.onHandshake({ result: "fail", version: "unknown", reason: "client certificate refused" });
        refuseWithAlert(handshake.socket, socket, serverSecret, refusal);
        return;
      }
      socket.allowHalfOpen = true;
      events.onHandshake({ result: "ok", version: versionOf(socket) });
      const verification = policy?.deferred === true ? verificationOf(socket, presented, policy) : undefined;
      handshake.onSecure(socket, handshake.serverName, policy, verification);
    },
    refused(socket) {
      socket.destroy();
    },
    get pending() {
      return places.pending;
    },
    get shaking() {
      return places.shaking;
    },
  };
}

/**
 * Includes the local address, because a client can use the same port for connections to several addresses of the proxy.
 */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  return remoteAddress === undefined
    ? undefined
    : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

const versionOf = (socket: TLSSocket): HandshakeResult["version"] => knownVersion(socket.getProtocol());

const knownVersion = (version: string | null): HandshakeResult["version"] =>
  version === "TLSv1.2" || version === "TLSv1.3" ? version : "unknown";

const noHello: ClientHello = { kind: "hello", serverName: "" };
