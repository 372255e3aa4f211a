import { expect } from "chai";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { ownLoopback as address } from "../../../common/test/own-loopback.ts";
import { findUnusablePorts } from "../../src/listeners/free-ports.ts";

const listening = async (reusePort: boolean): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = createServer().listen({ port: 0, host: address, reusePort });
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
};

/** A UDP socket on a port that is free for TCP. */
async function boundUdp(): Promise<Socket> {
  for (;;) {
    const { server, port } = await listening(false);
    const socket = createSocket("udp4").bind(port, address);
    const isBound = await once(socket, "listening").then(
      () => true,
      () => false,
    );
    server.close();
    await once(server, "close");
    if (isBound) return socket;
  }
}

describe("findUnusablePorts", () => {
  it("a TCP port that is taken is found, even where its socket would share it", async () => {
    for (const reusePort of [false, true]) {
      const { server, port } = await listening(reusePort);
      const listeners = [
        { port: 80, protocol: "http" },
        { port: 443, protocol: "https" },
      ] as const;
      const localPort = (listener: number): number => (listener === 80 ? port : 0);
      expect(await findUnusablePorts({ listeners, localPort, address })).to.deep.equal([
        { listenerPort: 80, why: `Port ${port} is taken by this process itself` },
      ]);
      server.close();
      await once(server, "close");
      expect(await findUnusablePorts({ listeners, localPort, address })).to.deep.equal([]);
    }
  });

  it("a UDP port that is taken is found, and the TCP port of the same number is free", async () => {
    const socket = await boundUdp();
    const { port } = socket.address();
    const localPort = (): number => port;
    const listeners = [
      { port: 53, protocol: "tcp" },
      { port: 53, protocol: "udp" },
    ] as const;
    const unusable = await findUnusablePorts({ listeners, localPort, address });
    socket.close();
    expect(unusable).to.deep.equal([
      { listenerPort: 53, why: `Port ${port} is taken by this process itself` },
    ]);
  });

  it("a port that has been looked at can be bound", async () => {
    const { server, port } = await listening(false);
    server.close();
    await once(server, "close");
    const listeners = [{ port, protocol: "tcp" }] as const;
    expect(await findUnusablePorts({ listeners, localPort: (same) => same, address })).to.deep.equal([]);
    const again = createServer().listen(port, address);
    await once(again, "listening");
    again.close();
  });
});
