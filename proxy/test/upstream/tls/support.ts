import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type TlsOptions, type TLSSocket } from "node:tls";
import type { BackendCertificate, BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { createSecureContexts, createUpstreamTls } from "../../../src/upstream/tls/upstream-tls.ts";
import type { UpstreamEndpoint } from "../../../src/upstream/upstream.ts";
import { issueCertificate, type Issued } from "../../tls/certificates.ts";

export const authority = issueCertificate(["Backends"], { ca: true });
export const otherAuthority = issueCertificate(["Untrusted authority"], { ca: true });
export const backend = issueCertificate(["backend.test", "spiffe://cluster.test/ns/a,b/sa/web"], {
  issuer: authority,
});

const contexts = createSecureContexts();

/** Returns a new endpoint at the port, with the settings of a policy. */
export const endpointWith = (
  port: number,
  policy: Partial<BackendTls> = {},
  client?: BackendCertificate,
): UpstreamEndpoint => ({
  host: "127.0.0.1",
  port,
  address: `127.0.0.1:${port}`,
  tls: createUpstreamTls(
    { hostname: "backend.test", authorities: authority.leafPem, ...policy },
    client,
    contexts,
  ),
});

export type TlsBackend = {
  readonly port: number;
  /** The connections whose handshake is complete, oldest first. */
  readonly secure: TLSSocket[];
  /** Whether each of these connections resumed a session. */
  readonly resumed: boolean[];
  /** The text received over all of these connections. */
  received: string;
  close(): void;
};

/** Starts a TLS server that responds to each request head with `answer`. */
export async function startTlsBackend(
  certificate: Issued = backend,
  options: TlsOptions & { readonly answer?: string } = {},
): Promise<TlsBackend> {
  const { answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ...own } = options;
  const sockets = new Set<Socket>();
  const server = createServer({
    cert: certificate.chainPem,
    key: certificate.keyPem,
    ALPNProtocols: ["h2", "http/1.1"],
    ...own,
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("tlsClientError", () => undefined);
  const started: TlsBackend = {
    port: 0,
    secure: [],
    resumed: [],
    received: "",
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  server.on("secureConnection", (socket) => {
    started.secure.push(socket);
    started.resumed.push(socket.isSessionReused());
    socket.on("error", () => undefined);
    socket.on("data", (piece) => {
      started.received += piece.toString("latin1");
      if (piece.includes("\r\n\r\n")) socket.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(started, { port: (server.address() as AddressInfo).port });
}
