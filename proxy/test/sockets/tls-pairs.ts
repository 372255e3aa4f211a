import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import {
  connect as connectTls,
  type ConnectionOptions,
  createServer as createTlsServer,
  type Server as TlsServer,
  type TLSSocket,
} from "node:tls";
import { issueCertificate } from "../tls/certificates.ts";

/** Both ends of a TLS connection, and the sockets of TCP under them. */
export type TlsPair = {
  readonly client: TLSSocket;
  readonly clientPlain: Socket;
  readonly socket: TLSSocket;
  readonly plain: Socket;
};

const { chainPem, keyPem } = issueCertificate(["pairs.example"]);

/** TLS connections, accepted as listeners do: TLS is put on an accepted socket. */
export class TlsPairs {
  readonly port: number;
  private readonly server: Server;
  private readonly tls: TlsServer;
  private readonly sockets: Socket[] = [];
  private readonly plain: Socket[] = [];

  private constructor(server: Server, tls: TlsServer) {
    this.server = server;
    this.tls = tls;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (socket: Socket) => {
      this.plain.push(socket);
      this.sockets.push(socket);
      tls.emit("connection", socket);
    });
  }

  static async listen(): Promise<TlsPairs> {
    const server = createServer({ allowHalfOpen: true });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new TlsPairs(server, createTlsServer({ cert: chainPem, key: keyPem, ca: [] }));
  }

  /** `secured` is called with the socket of the server as soon as its handshake is complete. */
  async accept(
    secured: (socket: TLSSocket) => void = () => {},
    options: ConnectionOptions = {},
  ): Promise<TlsPair> {
    const clientPlain = connect({ host: "127.0.0.1", port: this.port, allowHalfOpen: true });
    await once(clientPlain, "connect");
    const client = connectTls({ socket: clientPlain, rejectUnauthorized: false, ...options });
    client.on("error", () => {});
    const [socket] = await Promise.all([this.secured(secured), once(client, "secureConnect")]);
    this.sockets.push(clientPlain, client);
    return { client, clientPlain, socket, plain: this.plain.pop() as Socket };
  }

  /** The next connection of any client. */
  async secured(call: (socket: TLSSocket) => void = () => {}): Promise<TLSSocket> {
    const { promise, resolve } = Promise.withResolvers<TLSSocket>();
    this.tls.once("secureConnection", (socket) => {
      socket.allowHalfOpen = true;
      socket.on("error", () => {});
      this.sockets.push(socket);
      call(socket);
      // To close a connection within the completion of its handshake ends the process.
      setImmediate(() => resolve(socket));
    });
    return promise;
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await closed;
  }
}
