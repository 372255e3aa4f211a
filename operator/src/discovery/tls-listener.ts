import { constants } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { systemClock } from "@svc-gateway/common/time/clock.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { createConnectionPlaces, type PlaceLimits } from "./connection-places.ts";
import type { TlsMaterial } from "./server-identity.ts";

/** Bounds against peers that open connections and do nothing with them. */
export type ConnectionLimits = PlaceLimits & { readonly handshakeTimeoutMs: number };

export type TlsListenerOptions = {
  /** Absent: every address, IPv6 and IPv4. */
  readonly host?: string;
  readonly port: number;
  readonly limits: ConnectionLimits;
  /** Whether peers must show a certificate that chains to a trusted root and is for clients. */
  readonly requireClientCertificate: boolean;
  readonly onConnection: (socket: TLSSocket) => void;
  /** A peer whose handshake was complete, but whose certificate is missing or not trusted. */
  readonly onUntrusted: (peer: string | undefined, reason: string) => void;
};

export type TlsListener = {
  /** A peer (`address:port`) has one call more or less; its connection is silent while it has none. */
  onCall(peer: string, calls: 1 | -1): void;
  /** Takes a new certificate and new roots into use for new connections. */
  setMaterial(material: TlsMaterial): void;
  /** Binds; resolves with the port. Until there is material, connections are closed at once. */
  listen(): Promise<Result<number>>;
  /** Stops accepting at once, and closes what is still open after the grace period. */
  close(graceMs: number): Promise<void>;
};

/**
 * Accepts the TLS connections of the discovery channel: TLS 1.3, HTTP/2, bounded in number. There are no session
 * tickets, so that the certificate is verified on every connection. See docs/discovery.md, "Limits".
 */
export function createTlsListener(options: TlsListenerOptions): TlsListener {
  const { limits, requireClientCertificate, onConnection, onUntrusted } = options;
  const sockets = new Set<Socket>();
  const places = createConnectionPlaces(limits);
  let hasMaterial = false;
  // An untrusted peer is let through the handshake and closed right after it, so that it can be counted and logged.
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
      // Node types this as an Error and gives the code of OpenSSL as a string.
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
      const cut = systemClock.schedule(graceMs, () => {
        for (const socket of sockets) socket.destroy();
      });
      // Calls back when the last connection is closed.
      await new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
    },
  };
}

const contextOptions = {
  minVersion: "TLSv1.3",
  secureOptions: constants.SSL_OP_NO_TICKET,
  // The root may be an intermediate of a larger hierarchy.
  allowPartialTrustChain: true,
} as const;
