/** Ports of 127.0.0.1 that the system gives to no other process, which is possible with a port that was merely closed. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Opens a connection to a port on which nothing listens any more. It ends when `close` is called. */
async function openConnection(): Promise<{
  readonly serverPort: number;
  readonly clientPort: number;
  close(): void;
}> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  const [[peer]] = (await Promise.all([once(server, "connection"), once(client, "connect")])) as [
    [Socket],
    unknown,
  ];
  server.close();
  return {
    serverPort: port,
    clientPort: client.localPort ?? 0,
    close() {
      client.destroy();
      peer.destroy();
    },
  };
}

/** A port that refuses connections until `close`. */
export type RefusingPort = { readonly port: number; close(): void };

/** Holds the local port of an open connection, on which no process can listen, even one that names it. */
export async function holdRefusingPort(): Promise<RefusingPort> {
  const { clientPort, close } = await openConnection();
  return { port: clientPort, close };
}

/** A port on which nothing listens, and on which a server that names it can listen, until `release`. */
export type HeldPort = { readonly port: number; release(): void };

/** Holds the port of an accepted connection, which only a process that names it gets. */
export async function holdPort(): Promise<HeldPort> {
  const { serverPort, close } = await openConnection();
  return { port: serverPort, release: close };
}
