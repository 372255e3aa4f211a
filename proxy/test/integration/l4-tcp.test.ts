import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { silentPort } from "../upstream/silent-port.ts";
import { version2, addresses } from "../listeners/proxy-protocol/headers.ts";
import { eventually, startTcp } from "./gateway.ts";
import { l4Route, startL4, type L4Gateway, type L4Plan } from "./l4.ts";

const set = "ns/db/5432";

describe("TCP routes", () => {
  const closing: { close(): unknown }[] = [];
  const sockets: Socket[] = [];

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const one of closing.splice(0)) await one.close();
  });

  const start = async (plan: L4Plan, ...flags: readonly string[]): Promise<L4Gateway> => {
    const gateway = await startL4(plan, flags);
    closing.push(gateway);
    return gateway;
  };

  /** A server that keeps its connections open when clients have ended their side. */
  const serve = async (onConnection: (socket: Socket) => void): Promise<number> => {
    const server = await startTcp((socket) => {
      socket.allowHalfOpen = true;
      onConnection(socket);
    });
    closing.push(server);
    return server.port;
  };

  const dial = (port: number): Socket => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    return socket;
  };

  /** Sends bytes; resolves to the answer, with the error code of a connection that failed at its end. */
  const talk = async (port: number, bytes: string): Promise<string> => {
    const socket = dial(port);
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) => (text += `[${error.code}]`));
    socket.end(bytes);
    await once(socket, "close").catch(() => undefined);
    return text;
  };

  it("bytes of a connection are counted while it is open", async () => {
    const port = await serve((socket) => socket.on("data", () => socket.write("answer")));
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    const socket = dial(gateway.tcpPort);
    socket.write("ask");
    await once(socket, "data");
    expect(await gateway.samples("svc_proxy_connection_sent_bytes_total")).to.deep.equal([
      '{listener="9000",route="tcproute/ns/db:0"} 6',
    ]);
    expect(gateway.connections).to.deep.equal([]);
  });

  it("a connection that has ended is logged with its route, endpoint and bytes", async () => {
    const port = await serve((socket) => socket.on("end", () => socket.end("answer")).resume());
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    expect(await talk(gateway.tcpPort, "ask")).to.equal("answer");
    await eventually(() => gateway.connections.length === 1);
    const [record] = gateway.connections;
    expect(record?.durationMs).to.be.at.least(0);
    expect({ ...record, durationMs: 0 }).to.deep.equal({
      durationMs: 0,
      protocol: "tcp",
      listener: 9000,
      serverName: "",
      routeId: "tcproute/ns/db:0",
      upstream: "ns/db",
      upstreamAddr: `127.0.0.1:${port}`,
      clientIp: "127.0.0.1",
      bytesReceived: 3,
      bytesSent: 6,
      attempts: 1,
      failure: undefined,
    });
    const labels = '{listener="9000",route="tcproute/ns/db:0"}';
    expect(await gateway.samples("svc_proxy_connection_received_bytes_total")).to.deep.equal([`${labels} 3`]);
    expect(await gateway.samples("svc_proxy_connection_sent_bytes_total")).to.deep.equal([`${labels} 6`]);
    expect(await gateway.samples("svc_proxy_upstream_connect_seconds_count")).to.deep.equal([`${labels} 1`]);
  });

  it("a connection that fails is logged with the reason", async () => {
    const refusing = await holdRefusingPort();
    closing.push(refusing);
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [refusing.port] } });
    await talk(gateway.tcpPort, "ask");
    await gateway.update({ tcp: l4Route([set, 1]), endpoints: { [set]: [] } });
    await talk(gateway.tcpPort, "ask");
    await gateway.update({ tcp: l4Route(["", 1]), endpoints: {} });
    await talk(gateway.tcpPort, "ask");
    await eventually(() => gateway.connections.length === 3);
    expect(gateway.connections.map(({ failure }) => failure?.reason)).to.deep.equal([
      "upstream-refused",
      "no-endpoint",
      "no-backend",
    ]);
  });

  it("a TCP route relays bytes and a half-close", async () => {
    const port = await serve((socket) => {
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      // Answers only when the client has ended its side.
      socket.on("end", () => socket.end(`got ${text}`));
    });
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    expect(await talk(gateway.tcpPort, "hello")).to.equal("got hello");
  });

  it("a TCP route relays a half-close that arrived before the backend was connected", async () => {
    const port = await serve((socket) => void socket.resume().on("end", () => socket.end("bye")));
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    expect(await talk(gateway.tcpPort, "")).to.equal("bye");
  });

  it("a TCP route stops connecting to a backend when the client resets", async () => {
    const silent = await silentPort();
    closing.push(silent);
    const gateway = await start(
      { tcp: l4Route([set, 1]), endpoints: { [set]: [silent.port] } },
      "--proxy-connect-timeout=1h",
    );
    const client = dial(gateway.tcpPort);
    client.write("early");
    await once(client, "connect");
    const active = gateway.metrics.connectionsActive.with({ listener: "9000" });
    await eventually(() => active.value === 1);
    client.resetAndDestroy();
    await eventually(() => active.value === 0);
    expect(await gateway.samples("svc_proxy_upstream_errors_total")).to.deep.equal([]);
  });

  it("a half-closed client counts as a connection while its backend is being connected", async () => {
    const silent = await silentPort();
    closing.push(silent);
    const gateway = await start(
      { tcp: l4Route([set, 1]), endpoints: { [set]: [silent.port] }, policy: { connectTimeoutMs: 600_000 } },
      "--proxy-max-connections-per-listener=2",
    );
    const active = gateway.metrics.connectionsActive.with({ listener: "9000" });
    const ends: string[] = [];
    for (let i = 1; i <= 2; i++) {
      void talk(gateway.tcpPort, "whole").then((end) => ends.push(end));
      await eventually(() => active.value === i);
    }
    await talk(gateway.tcpPort, "whole");
    const refused = gateway.metrics.limitsReached.with({ limit: "listener-connections" });
    expect([refused.value, active.value, ends.length]).to.deep.equal([1, 2, 0]);
    await gateway.close();
    await eventually(() => ends.length === 2);
    expect(ends).to.deep.equal(["[ECONNRESET]", "[ECONNRESET]"]);
    expect(active.value).to.equal(0);
  });

  it("a TCP route gives up on backends that do not answer connects, also for half-closed clients", async () => {
    const silent = await silentPort();
    closing.push(silent);
    const gateway = await start(
      { tcp: l4Route([set, 1]), endpoints: { [set]: [silent.port] } },
      "--proxy-connect-timeout=20ms",
    );
    expect(await talk(gateway.tcpPort, "whole")).to.equal("[ECONNRESET]");
    expect((await gateway.samples("svc_proxy_upstream_errors_total")).join("\n")).to.contain(
      'upstream="ns/db",error_type="timeout"} 2',
    );
  });

  it("a TCP route relays the bytes of a server that speaks first", async () => {
    const port = await serve((socket) => socket.end("220 ready"));
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    expect(await talk(gateway.tcpPort, "")).to.equal("220 ready");
  });

  it("a TCP listener resets the share of a broken backend, and connections without a route or endpoint", async () => {
    const port = await serve((socket) => socket.end("ok"));
    const plan = { tcp: l4Route([set, 3], ["", 1]), endpoints: { [set]: [port] } };
    const gateway = await start(plan);
    const answers: string[] = [];
    for (let i = 0; i < 40; i++) answers.push(await talk(gateway.tcpPort, ""));
    expect(answers.filter((answer) => answer === "ok").length).to.be.within(28, 32);
    expect(answers.filter((answer) => answer === "[ECONNRESET]").length).to.be.within(8, 12);
    await gateway.update({ ...plan, tcp: undefined });
    expect(await talk(gateway.tcpPort, "")).to.equal("[ECONNRESET]");
    await gateway.update({ tcp: l4Route([set, 1]), endpoints: { [set]: [] } });
    expect(await talk(gateway.tcpPort, "")).to.equal("[ECONNRESET]");
    expect((await gateway.samples("svc_proxy_upstream_errors_total")).join("\n")).to.contain(
      'upstream="ns/db",error_type="other"} 1',
    );
  });

  it("a TCP route distributes connections by weight, and none to weight 0", async () => {
    const ports = [
      await serve((socket) => socket.end("a")),
      await serve((socket) => socket.end("b")),
      await serve((socket) => socket.end("c")),
    ] as const;
    const [a, b, c] = ["ns/a/1", "ns/b/1", "ns/c/1"] as const;
    const gateway = await start({
      tcp: l4Route([a, 7], [b, 3], [c, 0]),
      endpoints: { [a]: [ports[0]], [b]: [ports[1]], [c]: [ports[2]] },
    });
    const answers: string[] = [];
    for (let i = 0; i < 100; i++) answers.push(await talk(gateway.tcpPort, ""));
    expect(answers.filter((answer) => answer === "a").length).to.be.within(67, 73);
    expect(answers.filter((answer) => answer === "b").length).to.be.within(27, 33);
  });

  it("a TCP route tries another endpoint when one refuses the connection", async () => {
    const port = await serve((socket) => socket.end("ok"));
    const refusing = await holdRefusingPort();
    closing.push(refusing);
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port, refusing.port] } });
    for (let i = 0; i < 10; i++) expect(await talk(gateway.tcpPort, "")).to.equal("ok");
    expect((await gateway.samples("svc_proxy_upstream_errors_total")).join("\n")).to.contain(
      'listener="9000",route="tcproute/ns/db:0",upstream="ns/db",error_type="refused"',
    );
  });

  it("a TCP route relays resets in both directions", async () => {
    const ends: string[] = [];
    const port = await serve((socket) => {
      socket.on("error", (error: NodeJS.ErrnoException) => void ends.push(error.code ?? ""));
      socket.on("data", (chunk: Buffer) => {
        if (chunk.toString() === "reset") socket.resetAndDestroy();
        else socket.write("ready");
      });
    });
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    const first = dial(gateway.tcpPort);
    const failed = new Promise((resolve) => first.once("error", resolve));
    first.write("reset");
    expect(await failed).to.include({ code: "ECONNRESET" });
    const second = dial(gateway.tcpPort);
    second.write("x");
    await once(second, "data");
    second.resetAndDestroy();
    await eventually(() => ends.includes("ECONNRESET"));
  });

  it("a TCP route stops reading from a backend whose client reads nothing", async () => {
    let sent = 0;
    const port = await serve((socket) => {
      const chunk = Buffer.alloc(64 * 1024);
      const send = (): void => {
        while (socket.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      socket.on("drain", send);
      send();
    });
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    const client = dial(gateway.tcpPort);
    client.pause();
    let before = -1;
    // What the kernel takes is bounded; when nothing moves for many turns, the proxy has stopped reading.
    for (let still = 0; still < 200; still = sent === before ? still + 1 : 0) {
      before = sent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const stopped = sent;
    let received = 0;
    client.on("data", (chunk: Buffer) => (received += chunk.length));
    client.resume();
    await eventually(() => received > stopped);
  });

  it("a TCP route resets connections that are idle for too long", async () => {
    const port = await serve(() => undefined);
    const gateway = await start(
      { tcp: l4Route([set, 1]), endpoints: { [set]: [port] } },
      "--proxy-tunnel-idle-timeout=50ms",
    );
    const client = dial(gateway.tcpPort);
    const failed = new Promise((resolve) => client.once("error", resolve));
    expect(await failed).to.include({ code: "ECONNRESET" });
    expect(gateway.metrics.limitsReached.with({ limit: "tunnel-idle-timeout" }).value).to.equal(1);
  });

  it("a TCP route balances by the client address of the PROXY protocol", async () => {
    const ports = await Promise.all(["a", "b", "c"].map((name) => serve((socket) => socket.end(name))));
    const gateway = await start(
      {
        tcp: l4Route([set, 1]),
        endpoints: { [set]: ports },
        policy: { loadBalancer: { algorithm: "hash", key: { from: "source-ip" } } },
      },
      "--proxy-accept-proxy-protocol",
    );
    const ask = async (last: number): Promise<string> => {
      const client = dial(gateway.tcpPort);
      client.write(version2(addresses([203, 0, 113, last], 4711), { transport: 0x11 }));
      const [chunk] = (await once(client, "data")) as [Buffer];
      return chunk.toString();
    };
    const answers = await Promise.all(Array.from({ length: 30 }, (_, last) => ask(last)));
    expect(new Set(answers).size).to.be.greaterThan(1);
    expect(await Promise.all(Array.from({ length: 30 }, (_, last) => ask(last)))).to.deep.equal(answers);
  });

  it("connections of a removed TCP listener finish, and other listeners are not touched", async () => {
    const port = await serve((socket) => socket.pipe(socket));
    const plan = { tcp: l4Route([set, 1]), udp: l4Route(), endpoints: { [set]: [port] } };
    const gateway = await start(plan);
    const { udpPort } = gateway;
    const client = dial(gateway.tcpPort);
    client.write("one");
    await once(client, "data");
    await gateway.update({ udp: l4Route(), endpoints: plan.endpoints });
    expect(gateway.proxy.localPort(9000)).to.equal(undefined);
    expect(gateway.udpPort).to.equal(udpPort);
    client.write("two");
    const [chunk] = (await once(client, "data")) as [Buffer];
    expect(chunk.toString()).to.equal("two");
    client.end();
    await once(client, "close");
  });

  it("TCP connections continue while the proxy shuts down, until the shutdown is forced", async () => {
    const port = await serve((socket) => void socket.pipe(socket));
    const gateway = await start({ tcp: l4Route([set, 1]), endpoints: { [set]: [port] } });
    const client = dial(gateway.tcpPort);
    const hurry = new AbortController();
    client.write("one");
    await once(client, "data");
    const down = gateway.proxy.shutdown(hurry.signal);
    client.write("two");
    const [chunk] = (await once(client, "data")) as [Buffer];
    expect(chunk.toString()).to.equal("two");
    const failed = new Promise((resolve) => client.once("error", resolve));
    hurry.abort();
    expect(await failed).to.include({ code: "ECONNRESET" });
    await down;
    expect(gateway.metrics.requestsForceClosed.with({ reason: "shutdown" }).value).to.equal(1);
  });

  it("TCP connections of a removed listener are cut when the drain timeout is over", async () => {
    const port = await serve(() => undefined);
    const gateway = await start(
      { tcp: l4Route([set, 1]), endpoints: { [set]: [port] } },
      "--proxy-listener-drain-timeout=50ms",
    );
    const client = dial(gateway.tcpPort);
    await once(client, "connect");
    await eventually(() => gateway.metrics.upstreamConnections.with({ state: "new" }).value > 0);
    const failed = new Promise((resolve) => client.once("error", resolve));
    await gateway.update({ endpoints: {} });
    expect(await failed).to.include({ code: "ECONNRESET" });
    const { requestsForceClosed } = gateway.metrics;
    await eventually(() => requestsForceClosed.with({ reason: "drain_exceeded" }).value === 1);
  });
});
