import { connect, isIP, type OnReadOpts, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls, TLSSocket, type ConnectionOptions } from "node:tls";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { awake } from "../timing/awake-clock.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import {
  connectError,
  connectTimeoutError,
  handshakeError,
  nameError,
  nodeLocalError,
  ownPortError,
  tlsError,
  type UpstreamError,
} from "./upstream-errors.ts";
import type { IdlePool } from "./idle-pool.ts";
import type { OwnPortGuard } from "./own-port-guard.ts";
import { isNodeLocal, reachableIps } from "@svc-gateway/common/values/reachable-ip.ts";
import type { SocketLayer } from "../sockets/socket-layer.ts";
import type { Resolver } from "./resolver.ts";
import { keepSessions, sessionOf } from "./tls/sessions.ts";
import type { UpstreamEndpoint } from "./upstream.ts";

/** The options that the upstream clients of all protocols share; one per worker. */
export type UpstreamClientOptions = {
  /** Limit of a connect, name resolution included, in milliseconds; 0 = none. */
  readonly connectTimeoutMs: number;
  readonly idlePool: IdlePool;
  readonly resolver: Resolver;
  /** How the bytes of established connections are read and written. */
  readonly sockets: SocketLayer;
  /** Refuses the ports of the gateway itself; absent: none is refused. */
  readonly ownPorts?: Pick<OwnPortGuard, "refuses"> | undefined;
};

/** A connection that is up, TLS included, and the address at its other end. */
export type Connected = { readonly socket: Socket; readonly address: string };

export type ConnectOptions = Pick<UpstreamClientOptions, "connectTimeoutMs" | "resolver" | "ownPorts"> & {
  /** The protocol over TLS (RFC 7301); absent: ALPN is not used. An endpoint that selects another one is rejected. */
  readonly alpn?: "h2" | "http/1.1";
  /** Reads into memory of the caller's choice instead of emitting `data`. */
  readonly onread?: OnReadOpts;
  /** The limit of the connect in milliseconds; absent: that of the endpoint, else of the client. */
  readonly limitMs?: number | undefined;
  /** Gives up a connection when there is no descriptor for a new one; absent: the connect fails. */
  readonly idlePool?: Pick<IdlePool, "closeOldest">;
  /** Keep the writable side when the other end has closed its own. */
  readonly allowHalfOpen?: boolean;
};

export type ConnectAttempt = {
  /** Gives up silently. */
  cancel(): void;
};

const isOutOfDescriptors = (code: string | undefined): boolean => code === "EMFILE" || code === "ENFILE";

/** After this long without a byte the kernel probes the peer, so that dead pooled connections are noticed. */
const keepAliveProbeMs = 60_000;

/** The limit of a handshake where connects have none. */
const maxHandshakeMs = 30_000;

const handshakeTimeoutError: UpstreamError = {
  ...connectTimeoutError,
  text: "upstream TLS handshake timeout",
};

/**
 * Opens a connection to an endpoint: resolves its name if it is one, then tries the addresses in order, each with an
 * equal share of the time that is left, for TCP and TLS together. `done` is called once, never before this function has
 * returned.
 */
export function connectEndpoint(
  endpoint: UpstreamEndpoint,
  options: ConnectOptions,
  done: (result: Result<Connected, UpstreamError>) => void,
): ConnectAttempt {
  const timeoutMs = options.limitMs ?? connectTimeoutOf(endpoint, options);
  const deadlineMs = awake.nowMs + timeoutMs;
  let socket: Socket | undefined;
  let timer: AwakeTimer | undefined;
  let settled = false;

  const settle = (result: Result<Connected, UpstreamError>): void => {
    if (settled) return;
    settled = true;
    timer?.clear();
    done(result);
  };

  const limit = (ms: number, expired: () => void): void => {
    timer?.clear();
    if (timeoutMs > 0) timer = new AwakeTimer(expired, Math.max(1, ms));
  };

  const tryAddress = (addresses: readonly string[], index: number): void => {
    const host = addresses[index] as string;
    const attempt = open(endpoint, host, options);
    let handshaking = false;
    socket = attempt;
    const failed = (error: UpstreamError): void => {
      abandon(attempt);
      if (settled) return;
      if (index + 1 < addresses.length) tryAddress(addresses, index + 1);
      else settle(fail(error));
    };
    const onError = ({ code }: NodeJS.ErrnoException): void => {
      if (isOutOfDescriptors(code) && options.idlePool?.closeOldest() === true) {
        abandon(attempt);
        if (!settled) tryAddress(addresses, index);
        return;
      }
      failed(handshaking ? handshakeError(code) : connectError(code));
    };
    const connected = (): void => {
      attempt.off("error", onError);
      settle(ok({ socket: attempt, address: host }));
    };
    limit((deadlineMs - awake.nowMs) / (addresses.length - index), () =>
      failed(handshaking ? handshakeTimeoutError : connectTimeoutError),
    );
    attempt.once("error", onError);
    if (!(attempt instanceof TLSSocket)) {
      attempt.once("connect", connected);
      return;
    }
    attempt.once("connect", () => {
      handshaking = true;
      if (timeoutMs === 0) timer = new AwakeTimer(() => failed(handshakeTimeoutError), maxHandshakeMs);
    });
    attempt.once("secureConnect", () => {
      const { alpnProtocol } = attempt;
      // HTTP/1.1 servers need not support ALPN; HTTP/2 is not spoken without it (RFC 9113 3.2).
      const isOther =
        alpnProtocol === false ? options.alpn === "h2" : alpnProtocol !== (options.alpn ?? false);
      if (isOther) return failed(tlsError("upstream does not agree on the protocol"));
      connected();
    });
  };

  const start = (addresses: Result<readonly string[], "unresolved">): void => {
    if (settled) return;
    if (!addresses.ok) return settle(fail(nameError));
    const allowed = addresses.value.filter((ip) => refusalOf(ip, endpoint, options) === undefined);
    const [first = ""] = addresses.value;
    if (allowed.length > 0) tryAddress(allowed, 0);
    else settle(fail(refusalOf(first, endpoint, options) ?? nameError));
  };

  const { tls } = endpoint;
  if (tls !== undefined && "refused" in tls) {
    queueMicrotask(() => settle(fail(tlsError(tls.refused))));
  } else if (isIP(endpoint.host) !== 0) {
    const { host } = endpoint;
    const refusal = refusalOf(host, endpoint, options);
    if (refusal === undefined) tryAddress([host], 0);
    else queueMicrotask(() => settle(fail(refusal)));
  } else {
    limit(timeoutMs, () => settle(fail(connectTimeoutError)));
    queueMicrotask(() => options.resolver.resolve(endpoint.host, start));
  }
  return {
    cancel() {
      settled = true;
      timer?.clear();
      if (socket !== undefined) abandon(socket);
    },
  };
}

/** Why no connection is made to an address of the endpoint; undefined: one may be. */
function refusalOf(
  ip: string,
  { port, limits }: UpstreamEndpoint,
  { ownPorts }: ConnectOptions,
): UpstreamError | undefined {
  if (ownPorts?.refuses(ip, port) === true) return ownPortError;
  return limits?.refusesNodeLocal === true && reachableIps(ip).some(isNodeLocal) ? nodeLocalError : undefined;
}

function open(endpoint: UpstreamEndpoint, host: string, options: ConnectOptions): Socket {
  const { port, tls } = endpoint;
  const { onread, allowHalfOpen = false, alpn } = options;
  const tcp: TcpNetConnectOpts = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveProbeMs,
    autoSelectFamily: false,
    ...(allowHalfOpen && { allowHalfOpen }),
    ...(onread && { onread }),
  };
  if (tls === undefined || "refused" in tls) return connect(tcp);
  const kept = sessionOf(endpoint);
  // Node hands the options of the TCP connection on; its types name only some of them.
  const secure: ConnectionOptions & TcpNetConnectOpts = {
    ...tcp,
    secureContext: tls.context,
    servername: tls.serverName,
    ...(tls.checkServerIdentity === undefined
      ? { rejectUnauthorized: false }
      : { checkServerIdentity: tls.checkServerIdentity }),
    ...(alpn && { ALPNProtocols: [alpn] }),
    ...(kept && { session: kept.session }),
  };
  const socket = connectTls(secure);
  keepSessions(endpoint, socket, kept);
  return socket;
}

/** Limit of a connect to the endpoint in milliseconds: that of its Service, else the client's; 0 = none. */
export const connectTimeoutOf = (
  { limits }: UpstreamEndpoint,
  { connectTimeoutMs }: Pick<UpstreamClientOptions, "connectTimeoutMs">,
): number => limits?.connectTimeoutMs ?? connectTimeoutMs;

/** Destroys a socket and ignores all its later events, errors included. */
export function abandon(socket: Socket): void {
  // Node itself waits for `close` of a TLS socket, to free memory of OpenSSL.
  for (const event of events) socket.removeAllListeners(event);
  socket.on("error", () => undefined);
  socket.destroy();
}

const events = ["connect", "secureConnect", "session", "data", "drain", "end", "error"] as const;
