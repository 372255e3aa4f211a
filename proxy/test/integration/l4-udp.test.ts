import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { expect } from "chai";
import { createSharedMemory } from "../../src/shared/shared-memory.ts";
import { l4Route, startL4, type L4Gateway } from "./l4.ts";

const set = "ns/dns/53/udp";

describe("UDP routes", () => {
  const sockets: Socket[] = [];
  let gateway: L4Gateway | undefined;

  afterEach(async () => {
    await gateway?.close();
    for (const socket of sockets.splice(0)) socket.close();
  });

  /** Answers each datagram with its name before it. */
  const serve = async (name: string): Promise<number> => {
    const socket = createSocket("udp4");
    sockets.push(socket);
    socket.on("message", (message, { port, address }) =>
      socket.send(`${name} ${message.toString()}`, port, address),
    );
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return socket.address().port;
  };

  const createClient = (): Socket => {
    const socket = createSocket("udp4");
    sockets.push(socket);
    return socket;
  };

  const ask = async (text: string, client = createClient()): Promise<string> => {
    const answer = once(client, "message") as Promise<[Buffer]>;
    client.send(text, gateway?.udpPort ?? 0, "127.0.0.1");
    return (await answer)[0].toString();
  };

  it("a UDP route relays datagrams in both directions, with one session for each client, by weight", async () => {
    const [a, b] = ["ns/a/53/udp", "ns/b/53/udp"] as const;
    const endpoints = { [a]: [await serve("a")], [b]: [await serve("b")] };
    gateway = await startL4({ udp: l4Route([a, 7], [b, 3]), endpoints });
    const answers: string[] = [];
    for (let i = 0; i < 50; i++) answers.push(await ask("x"));
    expect(answers.filter((answer) => answer === "a x").length).to.be.within(32, 38);
    const client = createClient();
    const [name] = await ask("one", client);
    for (let i = 0; i < 10; i++) expect(await ask("more", client)).to.equal(`${name} more`);
    expect(await gateway.samples("svc_proxy_udp_sessions_total")).to.deep.equal(['{listener="5300"} 51']);
  });

  it("a UDP session that has ended is logged with its bytes in both directions", async () => {
    const port = await serve("a");
    gateway = await startL4({ udp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    const client = createClient();
    for (const text of ["x", "yy"]) await ask(text, client);
    const labels = '{listener="5300",route="tcproute/ns/db:0"}';
    expect(await gateway.samples("svc_proxy_connection_received_bytes_total")).to.deep.equal([`${labels} 3`]);
    expect(await gateway.samples("svc_proxy_connection_sent_bytes_total")).to.deep.equal([`${labels} 7`]);
    await gateway.update({ udp: undefined, endpoints: {} });
    const [record] = gateway.connections;
    expect(record).to.include({
      protocol: "udp",
      listener: 5300,
      upstream: "ns/dns",
      upstreamAddr: `127.0.0.1:${port}`,
      clientIp: "127.0.0.1",
      bytesReceived: 3,
      bytesSent: 7,
      failure: undefined,
    });
  });

  it("a UDP route keeps the session of a client on one of several workers", async () => {
    const endpoints = { [set]: [await serve("a")] };
    const memory = createSharedMemory(2);
    const plan = { udp: l4Route([set, 1]), endpoints };
    gateway = await startL4(plan, [], { worker: 0, workers: 2, memory });
    const other = await startL4(plan, [`--port-map=5300=${gateway.udpPort}`], {
      worker: 1,
      workers: 2,
      memory,
    });
    try {
      const clients = Array.from({ length: 40 }, createClient);
      for (const round of ["one", "two"]) {
        const answers = await Promise.all(clients.map((client) => ask(round, client)));
        expect(new Set(answers)).to.deep.equal(new Set([`a ${round}`]));
      }
      const sessions = [gateway, other].map(
        ({ metrics }) => metrics.udpSessions.with({ listener: "5300" }).value,
      );
      expect(Math.min(...sessions)).to.be.greaterThan(0);
      expect(sessions.reduce((sum, count) => sum + count)).to.equal(40);
    } finally {
      await other.close();
    }
  });

  it("a UDP route uses a changed backend at once", async () => {
    const endpoints = { [set]: [await serve("old")], "ns/new/53/udp": [await serve("new")] };
    gateway = await startL4({ udp: l4Route([set, 1]), endpoints });
    const client = createClient();
    expect(await ask("x", client)).to.equal("old x");
    await gateway.update({ udp: l4Route(["ns/new/53/udp", 1]), endpoints });
    expect(await ask("x", client)).to.equal("new x");
  });

  it("a UDP port that is needed again while its sessions drain is bound again", async () => {
    const endpoints = { [set]: [await serve("a")] };
    gateway = await startL4({ udp: l4Route([set, 1]), endpoints });
    expect(await ask("x")).to.equal("a x");
    const { udpPort } = gateway;
    gateway.proxy.useLocalPorts([{ listenerPort: 5300, localPort: udpPort }]);
    await gateway.update({ endpoints: {} });
    expect(gateway.proxy.localPort(5300)).to.equal(undefined);
    await gateway.update({ udp: l4Route([set, 1]), endpoints });
    expect(gateway.udpPort).to.equal(udpPort);
    expect(await ask("x")).to.equal("a x");
  });
});
