import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP relay on loopback that can discard the data that it receives, like a network after a cable is pulled. */
export type Relay = {
  readonly port: number;
  /** Cuts the connections that are open now; new ones are relayed. */
  cut(): void;
  /** Cuts the connections after this number of further bytes; new ones are relayed. */
  cutAfter(bytes: number): void;
  /** Discards everything from now on, without closing anything. */
  freeze(): void;
  close(): Promise<void>;
};

export async function startRelay(target: { readonly host: string; readonly port: number }): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let leftBytes = Number.POSITIVE_INFINITY;
  const cut = (): void => {
    leftBytes = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.destroy();
  };
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on("data", (bytes) => {
      if (!isFrozen) to.write(bytes);
      leftBytes -= bytes.length;
      if (leftBytes < 0) cut();
    });
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      if (!isFrozen) to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(target);
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    cutAfter: (bytes) => (leftBytes = bytes),
    freeze: () => (isFrozen = true),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
