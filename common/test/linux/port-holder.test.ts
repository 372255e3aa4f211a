import { expect } from "chai";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { basename } from "node:path";
import { describePortHolder, findPortHolder } from "../../src/linux/port-holder.ts";
import { holdPort } from "../held-ports.ts";

const self = { pid: process.pid, name: basename(process.execPath) };

/** Listens on a port of one address on which no process listens at the other one. */
async function listenOn(host: string): Promise<Server> {
  for (;;) {
    const held = await holdPort();
    const server = createServer().listen(held.port, host);
    const isListening = await once(server, "listening").then(
      () => true,
      () => false,
    );
    server.once("close", held.release);
    if (isListening) return server;
    held.release();
  }
}

describe("findPortHolder", () => {
  it("the process that listens on a TCP port is found, over IPv4 and IPv6", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      const server = await listenOn(host);
      expect(await findPortHolder((server.address() as AddressInfo).port)).to.deep.equal(self);
      server.close();
    }
  });

  it("the process that has a UDP port is found, and none for a free port", async () => {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address();
    expect(await findPortHolder(port, "udp")).to.deep.equal(self);
    socket.close();
    await once(socket, "close");
    expect(await findPortHolder(port, "udp")).to.equal(undefined);
  });

  it("the holder of a port is unknown on a system without /proc, and the sentence says only that the port is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await findPortHolder(port, "tcp", "/no/proc")).to.equal(undefined);
    expect(await describePortHolder(port, "tcp", "/no/proc")).to.equal(
      `Port ${port} is taken by another process`,
    );
    expect(await describePortHolder(port)).to.equal(`Port ${port} is taken by this process itself`);
    server.close();
  });
});
