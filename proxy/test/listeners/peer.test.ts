import { expect } from "chai";
import { createServer, type AddressInfo, connect } from "node:net";
import { bindServer } from "../../src/listeners/bind.ts";
import { peerOf, plainAddress } from "../../src/listeners/peer.ts";

describe("the address of a peer", () => {
  for (const [address, plain] of [
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["::1", "::1"],
    ["::ffff:1:2", "::ffff:1:2"],
  ] as const) {
    it(`the peer address ${address} is reported as ${plain}`, () => {
      expect(plainAddress(address)).to.equal(plain);
    });
  }
});

describe("binding", () => {
  it("a server that is bound to every address sees IPv4 clients with their IPv4 address", async () => {
    const peers: (string | undefined)[] = [];
    const server = createServer((socket) => {
      peers.push(peerOf(socket)?.address);
      socket.end();
    });
    const bound = await bindServer(server, { port: 0, address: undefined, reusePort: false });
    const { port } = server.address() as AddressInfo;
    expect(bound).to.deep.equal({ ok: true, value: port });
    const client = connect(port, "127.0.0.1").resume();
    await new Promise((resolve) => client.on("close", resolve));
    await new Promise((resolve) => server.close(resolve));
    expect(peers).to.deep.equal(["127.0.0.1"]);
  });

  it("a bind failure names the address that failed", async () => {
    const server = createServer();
    const taken = createServer();
    const first = await bindServer(taken, { port: 0, address: "127.0.0.1", reusePort: false });
    const { port } = taken.address() as AddressInfo;
    expect(first.ok).to.equal(true);
    const second = await bindServer(server, { port, address: "127.0.0.1", reusePort: false });
    expect(second).to.deep.equal({ ok: false, error: { address: "127.0.0.1", port, code: "EADDRINUSE" } });
    taken.close();
  });

  it("a failed bind can be tried again with the same server", async () => {
    const server = createServer();
    expect((await bindServer(server, { port: 0, address: "192.0.2.1", reusePort: false })).ok).to.equal(
      false,
    );
    expect((await bindServer(server, { port: 0, address: "127.0.0.1", reusePort: false })).ok).to.equal(true);
    server.close();
  });
});
