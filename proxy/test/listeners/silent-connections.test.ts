import { Socket } from "node:net";
import { expect } from "chai";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import { SilentConnections } from "../../src/listeners/silent-connections.ts";
import { answer, eventually, statusesOf } from "../http/h1/harness.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { tlsPort } from "../tls/harness.ts";
import {
  connect,
  connectSecure,
  http,
  https,
  noProxyProtocol,
  plan,
  request,
  startManager,
  stopManagers,
} from "./harness.ts";

describe("silent connections", () => {
  const fill = (silent: SilentConnections) => {
    const lost: string[] = [];
    return {
      lost,
      add(name: string, ip: string, listener = 80, maxOfListener = 0): Socket {
        const socket = new Socket();
        silent.add(socket, { listener, maxOfListener, ip }, () => lost.push(name));
        return socket;
      },
    };
  };

  it("half of all connections may be silent, divided among the workers", () => {
    const { add, lost } = fill(new SilentConnections(12, 2, 1));
    for (const name of ["a", "b", "c"]) add(name, "192.0.2.1");
    expect(lost).to.deep.equal([]);
    add("d", "192.0.2.1");
    expect(lost).to.deep.equal(["a"]);
  });

  it("the oldest silent connection is evicted from the listener and network with the most", () => {
    const silent = new SilentConnections(10, 1, 1);
    const { add, lost } = fill(silent);
    add("other listener", "192.0.2.1", 81);
    add("honest", "198.51.100.1");
    for (const name of ["a", "b"]) add(name, "2001:db8::1");
    const spoken = add("c", "2001:db8:0:0:ffff::1");
    add("d", "203.0.113.1");
    expect(lost).to.deep.equal(["a"]);
    silent.delete(spoken);
    silent.delete(spoken);
    expect(silent.size).to.equal(4);
    add("e", "203.0.113.1");
    add("f", "203.0.113.2");
    expect(lost).to.deep.equal(["a", "d"]);
  });

  it("silent connections of an IPv4-mapped address count as those of the IPv4 address", () => {
    const { add, lost } = fill(new SilentConnections(8, 1, 1));
    add("honest", "198.51.100.1");
    add("mapped", "::ffff:192.0.2.1");
    for (const name of ["plain", "third"]) add(name, "192.0.2.1");
    add("new", "203.0.113.1");
    expect(lost).to.deep.equal(["mapped"]);
  });

  it("all connections may be silent where the limit is small", () => {
    const { add, lost } = fill(new SilentConnections(8, 2));
    for (let i = 0; i < 8; i++) add(`${i}`, "192.0.2.1", 80, 8);
    expect(lost).to.deep.equal([]);
  });

  it("half of the connections of a listener with its own limit may be silent", () => {
    const { add, lost } = fill(new SilentConnections(1_000, 1, 1));
    for (const name of ["a", "b"]) add(name, "192.0.2.1", 80, 4);
    add("other", "192.0.2.1", 81, 4);
    expect(lost).to.deep.equal([]);
    add("c", "192.0.2.2", 80, 4);
    expect(lost).to.deep.equal(["a"]);
  });
});

describe("the listener manager: silent connections", () => {
  afterEach(stopManagers);
  const certificate = issueCertificate(["a.example"]);
  const tls = tlsPort(["exact", "a.example", [certificate]]);

  it("honest clients are served beside any number of silent connections, over TLS and in cleartext", async () => {
    const started = startManager(
      { gate: new ConnectionGate(20), silent: new SilentConnections(20, 1, 1) },
      (_, _head, client) => answer(client),
    );
    await started.manager.apply(plan([http(80), https(443)], { tls }));
    for (let i = 0; i < 60; i++) {
      await connect(started, i % 2 === 0 ? 80 : 443);
      if (i % 20 > 0) continue;
      const client = await connect(started);
      client.send(request);
      expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
      client.socket.destroy();
      const secure = await connectSecure(started);
      await eventually(() => started.events.of("handshake").includes("handshake ok TLSv1.3"));
      started.events.lines.splice(started.events.lines.indexOf("handshake ok TLSv1.3"), 1);
      secure.destroy();
    }
    await eventually(() => started.events.of("silent").length >= 40);
    expect(started.events.of("refused")).to.deep.equal([]);
    expect(started.events.of("handshake").filter((line) => line.includes("fail"))).to.deep.equal([]);
  });

  it("a connection without its PROXY protocol header counts for the peer, and then for the client that the header names", async () => {
    const counted: string[] = [];
    const silent = new SilentConnections(100);
    const add = silent.add.bind(silent);
    silent.add = (socket, from, onLost) => {
      counted.push(from.ip);
      add(socket, from, onLost);
    };
    const started = startManager({ silent, proxyProtocol: { ...noProxyProtocol, accepted: true } });
    await started.manager.apply(plan([http(80)]));
    const client = await connect(started);
    client.send("PROXY TCP4 192.0.2.1 192.0.2.99 1000 80\r\n");
    await eventually(() => counted.length === 2);
    expect(counted).to.deep.equal(["127.0.0.1", "192.0.2.1"]);
    expect(silent.size).to.equal(1);
    client.send(request);
    await eventually(() => started.seen.length === 1);
    expect(silent.size).to.equal(0);
  });
});
