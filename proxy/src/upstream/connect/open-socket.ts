import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { keepSessions, sessionOf } from "../tls/sessions.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import type { ConnectOptions } from "./options.ts";

/** After this long without a byte the kernel probes the peer, so that dead pooled connections are noticed. */
const keepAliveProbeMs = 60_000;

/**
 * Starts a connection to an address of an endpoint. If the endpoint uses TLS, the result is a `TLSSocket`, which
 * resumes the last session. Outcomes are events of the socket; no time limit is set here.
 */
export function openSocket(endpoint: UpstreamEndpoint, host: string, options: ConnectOptions): Socket {
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
  // Node passes on the options of the TCP connection, although its types name only some of them.
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

/** Destroys an unused socket and ignores all its later events, including errors. */
export function abandonSocket(socket: Socket): void {
  // Node itself waits for `close` of a TLS socket, to free memory of OpenSSL.
  for (const event of events) socket.removeAllListeners(event);
  socket.on("error", () => undefined);
  socket.destroy();
}

const events = ["connect", "secureConnect", "session", "data", "drain", "end", "error"] as const;
