import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import { Holdings } from "../fairness/holdings.ts";
import { resetSocket } from "../sockets/reset.ts";
import { awake } from "../timing/awake-clock.ts";
import { refuseWithAlert } from "./alert.ts";
import type { CertificateStore } from "./certificate-store.ts";
import type { ClientHello } from "./client-hello.ts";
import { type ClientPolicy, refusalOf } from "./client-validation.ts";
import { createHandshakeNotebook } from "./handshake-notes.ts";
import { readClientHello } from "./read-client-hello.ts";
import type { TlsSettings } from "./settings.ts";

/** `version` is what was negotiated: `TLSv1.2`, `TLSv1.3`, or `unknown` for a handshake that did not get so far. */
export type HandshakeResult = {
  readonly result: "ok" | "fail";
  readonly version: "TLSv1.2" | "TLSv1.3" | "unknown";
  /** Why it failed: fixed wording for counters and debug logs. */
  readonly reason?: HandshakeFailure;
};

export type HandshakeFailure =
  /** It ended before its first byte, so there was none: not told. */
  | "silent"
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
  /** The client's address, without zone; where there is not room for all, clients share it by their networks. */
  readonly ip: string;
  /** The first byte has come; until then the connection is no handshake, and bounded by its listener. */
  readonly onFirstByte?: () => void;
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
  /** Connections whose handshake is not complete, those that have sent nothing included. */
  readonly pending: number;
  /** Those of them whose ClientHello has come: what `maxHandshakes` bounds. */
  readonly shaking: number;
};

/** TLS alert record: fatal (2) unrecognized_name (112), RFC 8446 6.2. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** When there is no room, a handshake that has taken this share of its time makes place for a new one. */
const evictableShare = 1 / 4;
/** The same where handshakes may take any time. */
const evictableWithoutLimitMs = 2_500;

type Pending = HandshakeRequest & {
  readonly key: string;
  readonly network: string;
  readonly startedMs: number;
  /** When the ClientHello came; undefined before. */
  helloMs: number | undefined;
  serverName: string;
  policy: ClientPolicy | undefined;
  failure: HandshakeFailure;
};

/**
 * Creates the handshakes of a worker. The ClientHello is read first, from the plain socket: it selects the terminator,
 * and an unknown name gets its alert, before Node's TLS sees anything. Until it has come a connection costs nothing but its
 * place among the connections; a part of one costs memory, a whole one a signature, and both have bounds of their own
 * (docs/features/tls.md, "Limits").
 */
export function createHandshakes(
  { handshakeTimeoutMs, maxHandshakes }: TlsSettings,
  events: HandshakeEvents,
): Handshakes {
  /** By the client's address and port, which the plain and the TLS socket of a connection share; oldest first. */
  const pending = new Map<string, Pending>();
  /** Those that have sent a part of their ClientHello. */
  const begun = new Holdings<Pending>();
  /** Those whose ClientHello has come, in that order. */
  const shaking = new Set<Pending>();
  const shakingByNetwork = new Holdings<Pending>();
  const notebook = createHandshakeNotebook();
  const sweepIntervalMs = Math.max(10, Math.min(500, handshakeTimeoutMs / 4));
  const evictableMs = handshakeTimeoutMs > 0 ? handshakeTimeoutMs * evictableShare : evictableWithoutLimitMs;
  let sweeper: NodeJS.Timeout | undefined;

  const forget = (handshake: Pending): void => {
    const { key, network } = handshake;
    pending.delete(key);
    begun.delete(network, handshake);
    if (shaking.delete(handshake)) shakingByNetwork.delete(network, handshake);
    if (pending.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  /** `oldestFirst` by the time that `sinceMs` gives. */
  const endOlderThan = (
    ageMs: number,
    oldestFirst: Iterable<Pending>,
    sinceMs: (handshake: Pending) => number,
  ): boolean => {
    awake.look();
    const { nowMs } = awake;
    let ended = false;
    for (const handshake of oldestFirst) {
      if (nowMs - sinceMs(handshake) < ageMs) break;
      fail(handshake, "timeout");
      ended = true;
    }
    return ended;
  };

  const fail = (handshake: Pending, failure: HandshakeFailure): void => {
    if (pending.get(handshake.key) !== handshake) return;
    forget(handshake);
    if (failure !== "silent") events.onHandshake({ result: "fail", version: "unknown", reason: failure });
    handshake.socket.destroy();
  };

  const sweep = (): void =>
    void endOlderThan(handshakeTimeoutMs, pending.values(), ({ startedMs }) => startedMs);

  /**
   * Whether one more handshake of the network has a place: where there is none, one of the network that has the most makes
   * place, else those that have taken long. What has just begun is left to finish, so that a rush of honest clients is worked
   * off instead of none of them being served.
   */
  const hasRoom = (network: string): boolean => {
    if (shaking.size < maxHandshakes) return true;
    const loser = shakingByNetwork.oldestOfMost(shakingByNetwork.countOf(network) + 2);
    if (loser === undefined) return endOlderThan(evictableMs, shaking, ({ helloMs = 0 }) => helloMs);
    fail(loser, "too many handshakes");
    return true;
  };

  const begin = (handshake: Pending): void => {
    const { network } = handshake;
    handshake.failure = "client closed";
    handshake.onFirstByte?.();
    const loser = begun.size >= maxHandshakes ? begun.oldestOfMost() : undefined;
    if (loser !== undefined) fail(loser, "too many handshakes");
    begun.add(network, handshake);
  };

  const select = (handshake: Pending, hello: ClientHello | undefined): void => {
    const { socket, network } = handshake;
    begun.delete(network, handshake);
    handshake.onFirstByte?.();
    const claim = handshake.claim?.(hello?.serverName) ?? "terminate";
    if (claim === "taken") return forget(handshake);
    if (claim === "refused") {
      if (pending.get(handshake.key) === handshake) forget(handshake);
      events.onHandshake({ result: "fail", version: "unknown", reason: "unknown server name" });
      resetSocket(socket);
      return;
    }
    handshake.failure = "failed";
    if (!hasRoom(network)) return fail(handshake, "too many handshakes");
    handshake.helloMs = awake.nowMs;
    shaking.add(handshake);
    shakingByNetwork.add(network, handshake);
    const { serverName, ticketKeyName } = hello ?? noHello;
    handshake.serverName = serverName;
    const selected = handshake.certificates().select(serverName);
    if (selected !== undefined) {
      handshake.policy = selected.policy;
      // TLSSocket takes this over: a client that ends its side cannot complete a handshake.
      socket.allowHalfOpen = false;
      selected.terminator.server(ticketKeyName).emit("connection", socket);
      return;
    }
    socket.end(unrecognizedName, () => fail(handshake, "unknown server name"));
  };

  const start = (request: HandshakeRequest): void => {
    const { socket } = request;
    const key = keyOf(socket);
    if (key === undefined) return void socket.destroy();
    const handshake: Pending = {
      ...request,
      key,
      network: networkOf(request.ip),
      startedMs: awake.nowMs,
      helloMs: undefined,
      serverName: "",
      policy: undefined,
      failure: "silent",
    };
    pending.set(key, handshake);
    if (handshakeTimeoutMs > 0) sweeper ??= setInterval(sweep, sweepIntervalMs);
    socket.on("error", () => {});
    socket.on("close", () => fail(handshake, handshake.failure));
    readClientHello(socket, {
      onBegun: () => begin(handshake),
      onHello: (hello) => select(handshake, hello),
    });
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
      handshake.onSecure(socket, handshake.serverName, policy);
    },
    refused(socket) {
      socket.destroy();
    },
    get pending() {
      return pending.size;
    },
    get shaking() {
      return shaking.size;
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
