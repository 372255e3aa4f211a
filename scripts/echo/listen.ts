import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

/** A server on a port. */
export type Listening = {
  readonly port: number;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
};

/** Makes a server listen; port 0 uses a free one. */
export async function listen(server: Server, port = 0, host = "127.0.0.1"): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
