import { expect } from "chai";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { basename } from "node:path";
import { describeBindFailure } from "../../src/listeners/bind-failure.ts";
import { findPortHolder } from "../../src/listeners/port-holder.ts";

const self = { pid: process.pid, name: basename(process.execPath) };

describe("findPortHolder", () => {
  it("the process that listens on a TCP port is found, over IPv4 and IPv6", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      const server = createServer().listen(0, host);
      await once(server, "listening");
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
});

describe("describeBindFailure", () => {
  it("a bind failure is described with its cause, and with the remedy where one is known", async () => {
    const describeCode = (code: string): Promise<string> =>
      describeBindFailure({ port: 1, address: "192.0.2.1", code }, "tcp");
    expect(await describeCode("EADDRINUSE")).to.equal("Port 1 is taken by another process");
    expect(await describeCode("EACCES")).to.equal(
      "Port 1 is reserved for privileged users: --port-map can move the listener to another one",
    );
    expect(await describeCode("EADDRNOTAVAIL")).to.equal("This machine does not have the address 192.0.2.1");
    expect(await describeCode("EMFILE")).to.equal("Port 1 cannot be bound on 192.0.2.1 (EMFILE)");
  });
});
