import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  type CertificateStore,
  createCertificateStore,
  emptyCertificateStore,
} from "../../src/tls/certificate-store.ts";
import type { HandshakeResult } from "../../src/tls/handshake-result.ts";
import { createHandshakes, type Handshakes } from "../../src/tls/handshakes.ts";
import type { TlsSettings } from "../../src/tls/server-options.ts";
import { createTerminators, type Terminators } from "../../src/tls/terminators.ts";
import type { Transport } from "../../src/sockets/transport.ts";
import { layerNamed } from "../socket-layers.ts";
import type { Issued } from "./certificates.ts";

export const wideSettings: TlsSettings = {
  minVersion: "TLSv1.2",
  handshakeTimeoutMs: 60_000,
  maxHandshakes: 100,
};

/** A port's certificates, from `[bucket, host, certificates, best first]`. */
export function tlsPort(
  ...entries: readonly (readonly [TlsPort["hosts"][number]["bucket"], string, readonly Issued[]])[]
): TlsPort {
  const certificates: Record<string, Issued> = {};
  const hosts = entries.map(([bucket, host, issued]) => ({
    bucket,
    host,
    certificates: issued.map((certificate) => {
      const id = certificate.keyPem;
      certificates[id] = certificate;
      return id;
    }),
  }));
  return { certificates, hosts };
}

export type TlsUnderTest = {
  readonly port: number;
  readonly results: HandshakeResult[];
  readonly handshakes: Handshakes;
  readonly terminators: Terminators;
  /** Plain sockets that were accepted. */
  readonly accepted: Socket[];
  /** Connections that were accepted, with sockets or without. */
  readonly opened: readonly { readonly destroyed: boolean }[];
  serve(port: TlsPort, clients?: ClientCertPort): void;
  connect(options?: ConnectionOptions): Promise<TLSSocket>;
};

const running: {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly transports: Set<Transport>;
}[] = [];

/** Whether connections of `startTls` have sockets. */
let hasSockets = true;

/** A describe block for handshakes of connections with sockets, and one for those without. */
export function describeHandshakes(subject: string, tests: () => void): void {
  for (const [title, value] of [
    [subject, true],
    [`${subject}, without sockets`, false],
  ] as const) {
    describe(title, () => {
      before(() => (hasSockets = value));
      after(() => (hasSockets = true));
      tests();
    });
  }
}

/** Accepts TLS connections, echoes their bytes, and records the result of each handshake. */
export async function startTls(
  settings: Partial<TlsSettings> = {},
  host = "127.0.0.1",
): Promise<TlsUnderTest> {
  const all = { ...wideSettings, ...settings };
  const results: HandshakeResult[] = [];
  const accepted: Socket[] = [];
  const sockets = new Set<Socket>();
  const transports = new Set<Transport>();
  const opened: { destroyed: boolean }[] = [];
  let store: CertificateStore = emptyCertificateStore;
  const handshakes = createHandshakes(all, { onHandshake: (result) => results.push(result) });
  const terminators = createTerminators(all, silentLogger, {
    onSecure: (socket) => handshakes.secured(socket),
    onError: (_, socket) => handshakes.refused(socket),
    onStrictServer: (strict) => handshakes.watch(strict),
  });
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    accepted.push(socket);
    opened.push(socket);
    sockets.add(socket);
    handshakes.start({
      socket,
      ip: socket.remoteAddress ?? "",
      certificates: () => store,
      onSecure(secure, serverName) {
        secure.on("error", () => {});
        secure.write(`${serverName}|`);
        secure.on("data", (chunk: Buffer) => secure.write(chunk));
        secure.on("end", () => secure.end());
      },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  if (!hasSockets) {
    const isAccepting = layerNamed("handles").acceptor?.accept(server, (connection) => {
      // As listeners do it.
      if (store.asksClients) return void server.emit("connection", connection.toSocket());
      const transport = connection.open();
      transports.add(transport);
      const connected = { destroyed: false };
      opened.push(connected);
      transport.whenClosed(() => (connected.destroyed = true));
      handshakes.startOnHandle({
        transport,
        ip: connection.peer?.address ?? "",
        certificates: () => store,
        claim: () => "terminate",
        secure: (tls, events) => connection.secure(tls, events),
        onSecure(secured, { serverName }) {
          secured.writeText(`${serverName}|`);
          secured.start({
            receive: ({ bytes }) => secured.writeBytes("", Buffer.from(bytes), ""),
            ended: () => secured.end(),
            taken: () => {},
            closed: () => {},
          });
        },
      });
    });
    if (isAccepting !== true) throw new Error("no acceptor");
  }
  const { port } = server.address() as AddressInfo;
  running.push({ server, sockets, transports });
  return {
    port,
    results,
    handshakes,
    terminators,
    accepted,
    opened,
    serve(next, clients) {
      store = createCertificateStore(next, terminators, clients);
      terminators.retain(store.terminators);
    },
    connect(options = {}) {
      return new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
        sockets.add(socket);
        socket.once("secureConnect", () => resolve(socket));
        socket.once("error", reject);
        socket.once("close", () => reject(new Error("closed without a word")));
      });
    },
  };
}

export async function stopTls(): Promise<void> {
  for (const { server, sockets, transports } of running.splice(0)) {
    for (const connection of [...sockets, ...transports]) connection.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** The error code that a client gets for a failed handshake. */
export async function failureOf(connecting: Promise<TLSSocket>): Promise<string> {
  try {
    await connecting;
    return "connected";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/** Reads until the text matches. */
export async function readUntil(socket: Socket, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString();
    if (pattern.test(text)) return text;
  }
  throw new Error(`ended after ${JSON.stringify(text)}`);
}

/** The first bytes that a TLS client sends. */
export async function capturedHello(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once("data", (bytes: Buffer) => {
        socket.destroy();
        server.close();
        resolve(bytes);
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      connect({ port, host: "127.0.0.1", ...options }).on("error", () => {});
    });
  });
}
