import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

const headerLength = 5;
/** Long enough that the other side usually reads each record separately, on which nothing depends. */
const gapMs = 5;

/** Relays a client's TLS records one by one, like clients that write each message separately (RFC 8446 5.1). */
export async function startRecordRelay(port: number): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect({ port, host: "127.0.0.1", noDelay: true });
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => undefined));
    upstream.pipe(client);
    let bytes = Buffer.alloc(0);
    const timer = setInterval(() => {
      const end = bytes.length < headerLength ? Number.NaN : headerLength + bytes.readUInt16BE(3);
      if (!(bytes.length >= end)) return;
      upstream.write(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }, gapMs);
    client.on("data", (chunk: Buffer) => (bytes = Buffer.concat([bytes, chunk])));
    client.on("close", () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
