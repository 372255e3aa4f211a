import { connect, createSecureContext, type SecureContextOptions, type TLSSocket } from "node:tls";
import type { AcceptedConnection } from "../accepting.ts";
import type { Transport } from "../transport.ts";
import { everyOctet, type TestBench, TestEnd } from "./test-bench.ts";

/**
 * Options without a certificate at either end (RFC 8422 2.4). None is available, and a connection of the process to
 * itself protects nothing. No other connection uses these options.
 */
const anonymous: SecureContextOptions = {
  ca: [],
  ciphers: "AECDH-AES128-SHA@SECLEVEL=0",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
};
const protocols = Buffer.from("\u0004self", "latin1");

/**
 * Proves that TLS works on accepted handles: a handshake with ALPN, bytes in both directions, the ends of both sides,
 * and a handshake that fails. Clients speak TLS to `port`, and `accept` returns their accepted connections.
 */
export async function proveServerTls(
  bench: TestBench,
  port: number,
  accept: () => AcceptedConnection | undefined,
): Promise<void> {
  const { client, own } = await shake(bench, port, accept);
  bench.step = "bytes over TLS";
  let received = Buffer.alloc(0);
  client.on("data", (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    bench.check();
  });
  own.transport.writeText(everyOctet.toString("latin1"));
  client.write(everyOctet);
  await bench.until("reads", () => own.receivedBytes === 256 && received.length === 256);
  bench.expect("bytes", own.tail.equals(everyOctet) && received.equals(everyOctet));
  bench.step = "ends over TLS";
  own.transport.end();
  client.end();
  await bench.until("close", () => own.hasEnded && own.isClosed && client.closed);
  await proveFailure(bench, port, accept);
}

async function shake(
  bench: TestBench,
  port: number,
  accept: () => AcceptedConnection | undefined,
): Promise<{ readonly client: TLSSocket; readonly own: TestEnd }> {
  bench.step = "a handshake";
  const client = dial(bench, port);
  let own: TestEnd | undefined;
  let protocol = "";
  await begin(bench, accept, (transport, chosen) => {
    own = new TestEnd(transport, bench.check);
    protocol = String(chosen);
    setImmediate(bench.check);
  });
  await bench.until("handshake", () => own !== undefined);
  bench.expect("ALPN", protocol === "self");
  return { client, own: own as unknown as TestEnd };
}

/** Proves that a handshake without a common TLS version closes the connection. */
async function proveFailure(
  bench: TestBench,
  port: number,
  accept: () => AcceptedConnection | undefined,
): Promise<void> {
  bench.step = "a handshake that fails";
  const client = dial(bench, port, "TLSv1.3");
  const { isClosed } = await begin(bench, accept, () => {
    throw new Error("complete");
  });
  await bench.until("close", () => isClosed() && client.closed);
}

function dial(bench: TestBench, port: number, version?: "TLSv1.3"): TLSSocket {
  const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
  const client = connect({
    ...anonymous,
    ...versions,
    port,
    host: "127.0.0.1",
    ALPNProtocols: ["self"],
    rejectUnauthorized: false,
  });
  bench.closables.push(client);
  client.on("error", () => {});
  client.on("close", bench.check);
  return client;
}

/** Reads the first bytes of an accepted connection, and begins TLS with them. */
async function begin(
  bench: TestBench,
  accept: () => AcceptedConnection | undefined,
  onSecure: (transport: Transport, protocol: string | false) => void,
): Promise<{ isClosed(): boolean }> {
  let accepted: AcceptedConnection | undefined;
  await bench.until("a connection", () => (accepted = accept()) !== undefined);
  const connection = accepted as unknown as AcceptedConnection;
  const transport = connection.open();
  bench.closables.push(transport);
  let isClosed = false;
  transport.whenClosed(() => {
    isClosed = true;
    bench.check();
  });
  const context = createSecureContext(anonymous);
  transport.start({
    receive: ({ bytes }) => {
      const read = Buffer.from(bytes);
      connection.secure(
        { context, protocols, read },
        { onSecure: (secured, { protocol }) => onSecure(secured, protocol) },
      );
    },
    ended: () => {},
    taken: () => {},
    closed: () => {},
  });
  return { isClosed: () => isClosed };
}
