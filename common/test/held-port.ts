import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * A port of 127.0.0.1 on which nothing listens, and on which a server that names it can listen. It is the port of an
 * accepted connection, so that the system gives it to no other process that asks for any free port, which is possible
 * with a port that was merely closed. Released by `release`.
 */
export type HeldPort = { readonly port: number; release(): void };

export async function holdPort(): Promise<HeldPort> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const [[peer]] = (await Promise.all([once(server, "connection"), once(socket, "connect")])) as [
    [Socket],
    unknown,
  ];
  server.close();
  return {
    port,
    release() {
      socket.destroy();
      peer.destroy();
    },
  };
}
