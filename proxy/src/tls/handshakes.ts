import type { Socket } from "node:net";
import type { Server, TLSSocket } from "node:tls";
import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import { Holdings } from "../fairness/holdings.ts";
import { resetSocket } from "../sockets/reset.ts";
import { awake } from "../timing/awake-clock.ts";
import { refuseWithAlert } from "./alert.ts";
import type { CertificateStore } from "./certificate-store.ts";
import type { ClientHello } from "./client-hello.ts";
import { type ClientPolicy, refusalOf, verificationOf } from "./client-validation.ts";
import { createHandshakeNotebook } from "./handshake-notes.ts";
import { readClientHello } from "./read-client-hello.ts";
import type { TlsSettings } from "./server-options.ts";

/** `version` is what was negotiated: `TLSv1.2`, `TLSv1.3`, or `unknown` for a handshake that did not get so far. */
export type HandshakeResult = {
  readonly result: "ok" | "fail";
  readonly version: "TLSv1.2" | "TLSv1.3" | "unknown";
  /** Why it failed: fixed wording for counters and debug logs. */
  readonly reason?: HandshakeFailure;
};

export type HandshakeFailure =
  /** The connection ended before its first byte, so there was no handshake: not reported. */
  | "silent"
  | "too many handshakes"
  | "timeout"
  | "unknown server name"
  | "client certificate refused"
  | "client closed"
  | "failed";

export type HandshakeEvents = { onHandshake(result: HandshakeResult): void };

/** The decision about a connection once its server name is known: TLS ends here, it was passed on, or it is refused. */
export type HandshakeClaim = "terminate" | "taken" | "refused";

export type HandshakeRequest = {
  readonly socket: Socket;
  /** The client's address, without zone; networks share the places where there are too few. */
  readonly ip: string;
  /** Called with the first byte; until then the connection is no handshake, and bounded by its listener. */
  readonly onFirstByte?: () => void;
  /**
   * Called before TLS sees anything, with the name, or undefined for bytes that are no ClientHello or too large; the bytes
   * are put back. Refused connections are reset. When absent, TLS ends here.
   */
  readonly claim?: (serverName: string | undefined) => HandshakeClaim;
  /** Called when the name is known, so that a handshake gets the newest certificates. */
  readonly certificates: () => CertificateStore;
  /**
   * Called when the handshake is complete and the client admitted; the TLS socket belongs to the receiver. `policy` has the
   * rules that the client's certificate was checked by.
   */
  /** `verification` is that of a client whose requests decide about it. */
  readonly onSecure: (
    socket: TLSSocket,
    serverName: string,
    policy: ClientPolicy | undefined,
    verification?: string,
  ) => void;
};

/** TLS handshakes under way: bounded in number and in time. */
export type Handshakes = {
  start(request: HandshakeRequest): void;
  /** Called by the terminators: clients of this server may be refused when their handshakes are complete. */
  watch(server: Server): void;
  /** Called by the terminators when a handshake is complete. */
  secured(socket: TLSSocket): void;
  /** Called by the terminators when TLS refused the client with an alert. */
  refused(socket: TLSSocket): void;
  /** The number of connections whose handshake is not complete, including those that have sent nothing. */
  readonly pending: number;
  /** The number of them whose ClientHello has arrived, which `maxHandshakes` bounds. */
  readonly shaking: number;
};

/** TLS alert record: fatal (2) unrecognized_name (112), RFC 8446 6.2. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/** When there is no room, a handshake that has taken this share of its time is evicted for a new one. */
const evictableShare = 1 / 4;
/** The same where handshakes may take any time. */
const evictableWithoutLimitMs = 2_500;

type Pending = HandshakeRequest & {
  readonly key: string;
  readonly network: string;
  readonly startedMs: number;
  /** The time when the ClientHello arrived; undefined before. */
  helloMs: number | undefined;
  serverName: string;
  policy: ClientPolicy | undefined;
  failure: HandshakeFailure;
};

/**
 * Creates the handshakes of a worker. The ClientHello is read first, from the plain socket: it selects the terminator,
 * and an unknown name gets its alert, before Node's TLS sees anything. Until it has arrived a connection costs only its
 * place among the connections; a part of one costs memory, a whole one a signature, and both have bounds of their own
 * (docs/features/tls.md, "Limits").
 */
export function createHandshakes(
  { handshakeTimeoutMs, maxHandshakes }: TlsSettings,
  events: HandshakeEvents,
): Handshakes {
  /** By the client's address and port, which the plain and the TLS socket of a connection share; oldest first. */
  const pending = new Map<string, Pending>();
  /** Handshakes that have sent a part of their ClientHello. */
  const begun = new Holdings<Pending>();
  /** Handshakes whose ClientHello has arrived, in that order. */
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

  /** Fails handshakes that are older than `ageMs`; `oldestFirst` is in the order of `sinceMs`. */
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
   * Makes room for one more handshake of the network; false when there is none. A handshake is evicted from the network that
   * has the most, else those that have taken long. Handshakes that have just begun may finish, so that a rush of honest
   * clients is served one by one instead of not at all.
   */
  const makeRoom = (network: string): boolean => {
    if (shaking.size < maxHandshakes) return true;
    const evicted = shakingByNetwork.oldestOfMost(shakingByNetwork.countOf(network) + 2);
    if (evicted === undefined) return endOlderThan(evictableMs, shaking, ({ helloMs = 0 }) => helloMs);
    fail(evicted, "too many handshakes");
    return true;
  };

  const begin = (handshake: Pending): void => {
    const { network } = handshake;
    handshake.failure = "client closed";
    handshake.onFirstByte?.();
    const evicted = begun.size >= maxHandshakes ? begun.oldestOfMost() : undefined;
    if (evicted !== undefined) fail(evicted, "too many handshakes");
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
    if (!makeRoom(network)) return fail(handshake, "too many handshakes");
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
      const verification = policy?.deferred === true ? verificationOf(socket, presented, policy) : undefined;
      handshake.onSecure(socket, handshake.serverName, policy, verification);
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
