import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { resetSocket } from "../listeners/reset.ts";
import { awake } from "../timing/awake-clock.ts";
import { refuseWithAlert } from "./alert.ts";
import type { CertificateStore } from "./certificate-store.ts";
import { type ClientHello, peekClientHello } from "./client-hello.ts";
import { type ClientPolicy, refusalOf } from "./client-validation.ts";
import { createHandshakeNotebook } from "./handshake-notes.ts";
import type { TlsSettings } from "./settings.ts";

/** `version` is what was negotiated: `TLSv1.2`, `TLSv1.3`, or `unknown` for a handshake that did not get so far. */
export type HandshakeResult = {
  readonly result: "ok" | "fail";
  readonly version: "TLSv1.2" | "TLSv1.3" | "unknown";
  /** Why it failed: fixed wording for counters and debug logs. */
  readonly reason?: HandshakeFailure;
};

export type HandshakeFailure =
  | "too many handshakes"
  | "timeout"
  | "unknown server name"
  | "client certificate refused"
  | "client closed"
  | "failed";

export type HandshakeEvents = { onHandshake(result: HandshakeResult): void };

/** What becomes of a connection whose server name is known: TLS ends here, somebody has taken it over, or nobody wants it. */
export type HandshakeClaim = "terminate" | "taken" | "refused";

export type HandshakeRequest = {
  readonly socket: Socket;
  /**
   * Asked before TLS sees anything, with the name, or undefined for what is not a ClientHello or too large; the bytes
   * are put back. Connections that nobody wants are reset. Unless given, TLS ends here.
   */
  readonly claim?: (serverName: string | undefined) => HandshakeClaim;
  /** Asked when the name is known, so that a handshake sees the newest certificates. */
  readonly certificates: () => CertificateStore;
  /**
   * The handshake is complete and the client let in; the TLS socket belongs to the receiver. `policy` is what the
   * client's certificate was checked by.
   */
  readonly onSecure: (socket: TLSSocket, serverName: string, policy: ClientPolicy | undefined) => void;
};

/** TLS handshakes under way: bounded in number and in time. */
export type Handshakes = {
  start(request: HandshakeRequest): void;
  /** For the terminators: clients of this server may be refused when their handshakes are complete. */
  watch(server: Server): void;
  /** For the terminators: a handshake is complete. */
  secured(socket: TLSSocket): void;
  /** For the terminators: TLS refused the client, and has told it why. */
  refused(socket: TLSSocket): void;
  readonly pending: number;
};

/** TLS alert record: fatal (2) unrecognized_name (112), RFC 8446 6.2. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** When there is no room, a handshake that has taken this share of its time makes place for a new one. */
const evictableShare = 1 / 4;

type Pending = HandshakeRequest & {
  readonly startedMs: number;
  serverName: string;
  policy: ClientPolicy | undefined;
  failure: HandshakeFailure;
};

/**
 * Creates the handshakes of a worker. The ClientHello is read first, from the plain socket: it selects the terminator,
 * and an unknown name gets its alert, before Node's TLS sees anything.
 */
export function createHandshakes(
  { handshakeTimeoutMs, maxHandshakes }: TlsSettings,
  events: HandshakeEvents,
): Handshakes {
  /** By the client's address and port, which the plain and the TLS socket of a connection share; oldest first. */
  const pending = new Map<string, Pending>();
  const notebook = createHandshakeNotebook();
  const sweepIntervalMs = Math.max(10, Math.min(500, handshakeTimeoutMs / 4));
  let sweeper: NodeJS.Timeout | undefined;

  const forget = (key: string): void => {
    pending.delete(key);
    if (pending.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  const endOlderThan = (ageMs: number, failure: HandshakeFailure): boolean => {
    awake.look();
    const { nowMs } = awake;
    let ended = false;
    for (const [key, handshake] of pending) {
      if (nowMs - handshake.startedMs < ageMs) break;
      fail(key, handshake, failure);
      ended = true;
    }
    return ended;
  };

  const fail = (key: string, handshake: Pending, failure: HandshakeFailure): void => {
    if (pending.get(key) !== handshake) return;
    forget(key);
    events.onHandshake({ result: "fail", version: "unknown", reason: failure });
    handshake.socket.destroy();
  };

  const select = (key: string, handshake: Pending, hello: ClientHello | undefined): void => {
    const { socket } = handshake;
    const claim = handshake.claim?.(hello?.serverName) ?? "terminate";
    if (claim === "taken") return forget(key);
    if (claim === "refused") {
      if (pending.get(key) === handshake) forget(key);
      events.onHandshake({ result: "fail", version: "unknown", reason: "unknown server name" });
      resetSocket(socket);
      return;
    }
    const { serverName, ticketKeyName } = hello ?? noHello;
    handshake.serverName = serverName;
    handshake.failure = "failed";
    const selected = handshake.certificates().select(serverName);
    if (selected !== undefined) {
      handshake.policy = selected.policy;
      // TLSSocket takes this over: a client that ends its side cannot complete a handshake.
      socket.allowHalfOpen = false;
      selected.terminator.server(ticketKeyName).emit("connection", socket);
      return;
    }
    socket.end(unrecognizedName, () => fail(key, handshake, "unknown server name"));
  };

  const start = (request: HandshakeRequest): void => {
    const { socket } = request;
    const key = keyOf(socket);
    const noRoom =
      pending.size >= maxHandshakes && !endOlderThan(handshakeTimeoutMs * evictableShare, "timeout");
    if (noRoom || key === undefined) {
      events.onHandshake({
        result: "fail",
        version: "unknown",
        reason: noRoom ? "too many handshakes" : "client closed",
      });
      socket.destroy();
      return;
    }
    const handshake: Pending = {
      ...request,
      startedMs: awake.nowMs,
      serverName: "",
      policy: undefined,
      failure: "client closed",
    };
    pending.set(key, handshake);
    sweeper ??= setInterval(() => endOlderThan(handshakeTimeoutMs, "timeout"), sweepIntervalMs);
    socket.on("error", () => {});
    socket.on("close", () => fail(key, handshake, handshake.failure));
    readClientHello(socket, (hello) => select(key, handshake, hello));
  };

  return {
    start,
    watch: (server) => notebook.watch(server),
    secured(socket) {
      const key = keyOf(socket);
      const handshake = key === undefined ? undefined : pending.get(key);
      if (key === undefined || handshake === undefined) {
        socket.destroy();
        return;
      }
      forget(key);
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
      handshake.onSecure(socket, handshake.serverName, policy);
    },
    refused(socket) {
      socket.destroy();
    },
    get pending() {
      return pending.size;
    },
  };
}

/** A client may use one port of its own for connections to several addresses of the proxy. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  return remoteAddress === undefined
    ? undefined
    : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function versionOf(socket: TLSSocket): HandshakeResult["version"] {
  const version = socket.getProtocol();
  return version === "TLSv1.2" || version === "TLSv1.3" ? version : "unknown";
}

const noHello: ClientHello = { kind: "hello", serverName: "" };

/** Reads until the ClientHello is known, puts the bytes back, and calls `then`, with undefined for what is none. */
function readClientHello(socket: Socket, then: (hello: ClientHello | undefined) => void): void {
  let bytes: Buffer = Buffer.alloc(0);
  const onEnd = (): void => void socket.destroy();
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const peek = peekClientHello(bytes);
    if (peek.kind === "incomplete") return;
    socket.off("readable", onReadable);
    socket.off("end", onEnd);
    socket.unshift(bytes);
    then(peek.kind === "hello" ? peek : undefined);
  };
  socket.on("readable", onReadable);
  socket.on("end", onEnd);
}
