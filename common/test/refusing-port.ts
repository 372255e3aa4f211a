import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/**
 * A port of 127.0.0.1 that refuses connections until `close`. It is the local port of an open connection, so that no
 * other process can listen on it, which is possible on a port that was merely closed.
 */
export type RefusingPort = { readonly port: number; close(): void };

export async function holdRefusingPort(): Promise<RefusingPort> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [[peer]] = (await Promise.all([once(server, "connection"), once(socket, "connect")])) as [
    [ReturnType<typeof connect>],
    unknown,
  ];
  server.close();
  return {
    port: socket.localPort ?? 0,
    close() {
      socket.destroy();
      peer.destroy();
    },
  };
}
