import { constants } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { createConnectionPlaces, type PlaceLimits } from "./connection-places.ts";
import type { TlsMaterial } from "./server-identity.ts";

/** Limits on peers that open connections and do nothing with them. */
export type ConnectionLimits = PlaceLimits & { readonly handshakeTimeoutMs: number };

export type TlsListenerOptions = {
  /** The address to listen on; if absent, all IPv6 and IPv4 addresses. */
  readonly host?: string;
  readonly port: number;
  readonly limits: ConnectionLimits;
  /** Whether peers must present a client certificate that chains to a trusted root. */
  readonly requireClientCertificate: boolean;
  readonly onConnection: (socket: TLSSocket) => void;
  /** Called for a peer whose handshake was complete, but whose certificate is missing or not trusted. */
  readonly onUntrusted: (peer: string | undefined, reason: string) => void;
};

export type TlsListener = {
  /** Adjusts the number of calls of a peer (`address:port`); its connection counts as idle while it has none. */
  onCall(peer: string, calls: 1 | -1): void;
  /** Uses a new certificate and new roots for new connections. */
  setMaterial(material: TlsMaterial): void;
  /** Binds the port and resolves with it. Until certificates are set, connections are closed immediately. */
  listen(): Promise<Result<number>>;
  /** Stops accepting connections immediately, and closes those that are still open after the grace period. */
  close(graceMs: number): Promise<void>;
};

/**
 * Accepts the TLS connections of the discovery channel: TLS 1.3, HTTP/2, limited in number. Session tickets are
 * disabled, so that the certificate is verified on every connection. See docs/discovery.md, "Limits".
 */
export function createTlsListener(options: TlsListenerOptions): TlsListener {
  const { limits, requireClientCertificate, onConnection, onUntrusted } = options;
  const sockets = new Set<Socket>();
  const places = createConnectionPlaces(limits);
  let hasMaterial = false;
  // An untrusted peer may complete the handshake and is closed right after it, so that it can be counted and logged.
  const server = createServer({
    ALPNProtocols: ["h2"],
    handshakeTimeout: limits.handshakeTimeoutMs,
    requestCert: requireClientCertificate,
    rejectUnauthorized: false,
    ...contextOptions,
  });
  const admit = (socket: Socket): void => {
    if (!hasMaterial || !places.take(socket)) return void socket.destroy();
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      places.leave(socket);
    });
  };

  server.prependListener("connection", admit);
  // A failed handshake needs no action: a scan, a probe, or a peer with another root.
  server.on("tlsClientError", () => {});
  server.on("secureConnection", (socket) => {
    socket.on("error", () => {});
    if (socket.alpnProtocol !== "h2") return void socket.destroy();
    if (requireClientCertificate && !socket.authorized) {
      // Node declares this as an Error, but the value is the OpenSSL code as a string.
      const reason = String(socket.authorizationError);
      onUntrusted(socket.remoteAddress, reason === "UNABLE_TO_GET_ISSUER_CERT" ? "NO_CERTIFICATE" : reason);
      return void socket.destroy();
    }
    onConnection(socket);
  });

  return {
    onCall: places.onCall,
    setMaterial({ privateKeyPem, chainPem, trustPem }) {
      server.setSecureContext({ ...contextOptions, key: privateKeyPem, cert: chainPem, ca: trustPem });
      hasMaterial = true;
    },
    listen: () =>
      new Promise((resolve) => {
        const onError = (error: Error): void => resolve(problem(error.message));
        server.once("error", onError);
        server.listen(
          { port: options.port, ...(options.host !== undefined && { host: options.host }) },
          () => {
            server.off("error", onError);
            resolve(ok((server.address() as AddressInfo).port));
          },
        );
      }),
    async close(graceMs) {
      const cut = (): void => {
        for (const socket of sockets) socket.destroy();
      };
      // In two parts: if the process is paused, what it had to send is sent after the first one.
      let cancel = systemClock.schedule(graceMs / 2, () => {
        cancel = systemClock.schedule(graceMs / 2, cut);
      });
      // Calls back when the last connection is closed.
      await new Promise<void>((resolve) => server.close(() => resolve()));
      cancel();
    },
  };
}

const contextOptions = {
  minVersion: "TLSv1.3",
  secureOptions: constants.SSL_OP_NO_TICKET,
  // The trusted root can be an intermediate of a larger hierarchy.
  allowPartialTrustChain: true,
} as const;
