import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import { expect } from "chai";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { emptyPortTable, type PortTable } from "../../src/routing/port-table.ts";
import { answer, eventually, RawClient, statusesOf } from "../http/h1/harness.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { failureOf, readUntil, tlsPort } from "../tls/harness.ts";
import {
  http,
  https,
  type ManagerUnderTest,
  noProxyProtocol,
  plan,
  startManager,
  stopManagers,
} from "./harness.ts";

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const certificate = issueCertificate(["a.example"]);
const certificates = tlsPort(["exact", "a.example", [certificate]]);

describe("the listener manager", () => {
  const clients: RawClient[] = [];
  const others: { close(): unknown }[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) client.socket.destroy();
    await stopManagers();
    for (const other of others.splice(0)) other.close();
  });

  const connect = async ({ manager }: ManagerUnderTest, port = 80): Promise<RawClient> => {
    const client = await RawClient.connect(manager.localPort(port) as number);
    clients.push(client);
    return client;
  };

  const connectSecure = (
    { manager }: ManagerUnderTest,
    options: ConnectionOptions = {},
  ): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({
        port: manager.localPort(443) as number,
        host: "127.0.0.1",
        servername: "a.example",
        rejectUnauthorized: false,
        ...options,
      });
      socket.once("secureConnect", () => resolve(socket));
      socket.once("error", reject);
      others.push({ close: () => socket.destroy() });
    });

  /** Takes a port away from the listeners. */
  const occupy = (): Promise<Server & { readonly port: number }> =>
    new Promise((resolve) => {
      const server = createServer();
      others.push(server);
      server.listen(0, "127.0.0.1", () =>
        resolve(Object.assign(server, { port: (server.address() as AddressInfo).port })),
      );
    });

  describe("serves", () => {
    it("HTTP/1 on an http listener, and says what it accepted", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80, 8000)]));
      const client = await connect(started);
      client.send(request);
      await client.until(/hello$/);
      const connection = started.seen[0]?.connection;
      expect(connection?.remoteAddress).to.equal("127.0.0.1");
      expect(connection?.remotePort).to.equal(client.socket.localPort);
      expect(connection?.proxied).to.equal(false);
      expect(connection?.tls).to.equal(undefined);
      const { port, portLabel, publicPort, publicPortLabel, secure } = connection?.listener ?? {};
      expect({ port, portLabel, publicPort, publicPortLabel, secure }).to.deep.equal({
        port: 80,
        portLabel: "80",
        publicPort: 8000,
        publicPortLabel: "8000",
        secure: false,
      });
      expect(started.manager.boundPorts()).to.deep.equal([80]);
      expect(started.events.of("added", "bound").at(-1)).to.equal("bound 80");
      client.socket.destroy();
      await eventually(() => started.events.of("closed").length === 1);
      expect(started.events.of("opened", "closed")).to.deep.equal(["opened 80", "closed 80"]);
    });

    it("HTTP/2 with prior knowledge on the same listener", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80)]));
      const session = connectHttp2(`http://127.0.0.1:${started.manager.localPort(80)}`);
      others.push(session);
      const stream = session.request({ ":path": "/" });
      expect(await readUntil(stream as never, /hello$/)).to.equal("hello");
      expect(started.seen[0]?.head.version).to.equal("2.0");
    });

    for (const [method, text] of [
      ["PRI", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"],
      ["PROPFIND", "PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n"],
      ["POST", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"],
      ["GET", request],
    ] as const) {
      it(`what begins with ${method}, byte by byte, in the right protocol`, async () => {
        const started = startManager({}, (_, _head, client) => answer(client));
        await started.manager.apply(plan([http(80)]));
        const client = await connect(started);
        for (const byte of text) {
          client.send(byte);
          await new Promise((resolve) => setImmediate(resolve));
        }
        // A SETTINGS frame from the server, or the answer to a request.
        if (method === "PRI") await eventually(() => client.text.charCodeAt(3) === 4);
        else await client.until(/hello$/);
      });
    }

    it("HTTP/1 and HTTP/2 over TLS, by what the client negotiates", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([https(443)], { tls: certificates }));
      const socket = await connectSecure(started, { ALPNProtocols: ["http/1.1"] });
      socket.write(request);
      expect(await readUntil(socket, /hello$/)).to.match(/^HTTP\/1\.1 200 OK/);
      const session = connectHttp2(`https://127.0.0.1:${started.manager.localPort(443)}`, {
        servername: "a.example",
        rejectUnauthorized: false,
      });
      others.push(session);
      expect(await readUntil(session.request({ ":path": "/" }) as never, /hello$/)).to.equal("hello");
      expect(started.seen.map(({ head }) => head.version)).to.deep.equal(["1.1", "2.0"]);
      expect(started.seen.map(({ connection }) => connection.tls)).to.deep.equal([
        { serverName: "a.example", version: "TLSv1.3" },
        { serverName: "a.example", version: "TLSv1.3" },
      ]);
      expect(started.seen[0]?.connection.listener.secure).to.equal(true);
      expect(started.events.of("handshake")).to.deep.equal(["handshake ok TLSv1.3", "handshake ok TLSv1.3"]);
    });

    it("a TLS client that ends its side after its request", async () => {
      const started = startManager({});
      await started.manager.apply(plan([https(443)], { tls: certificates }));
      const socket = await connectSecure(started, { allowHalfOpen: true } as ConnectionOptions);
      socket.end(request);
      await eventually(() => started.seen.length === 1);
      const reading = readUntil(socket, /hello$/);
      answer(started.seen[0]?.client as never);
      await reading;
    });

    it("an HTTPS and a TLS listener of one port by one socket", async () => {
      const started = startManager();
      await started.manager.apply(plan([https(443), { port: 443, publicPort: 443, protocol: "tls" }]));
      expect(started.manager.boundPorts()).to.deep.equal([443]);
      expect(started.events.of("added")).to.deep.equal(["added"]);
      await started.manager.apply(plan([{ port: 443, publicPort: 443, protocol: "tls" }]));
      expect(started.events.of("added", "removed")).to.deep.equal(["added"]);
    });
  });

  describe("changes in place", () => {
    it("the table and the public port, for the next request of an open connection", async () => {
      const table: PortTable = {
        pathLevel: () => "base",
        filtersOf: undefined,
        match: () => undefined,
        isMisdirected: () => false,
      };
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80)]));
      const localPort = started.manager.localPort(80);
      const client = await connect(started);
      client.send(request);
      await client.until(/hello$/);
      await started.manager.apply(plan([http(80, 8080)], { table }));
      client.send(request);
      await client.until(/hello[^]*hello$/);
      expect(started.manager.localPort(80)).to.equal(localPort);
      expect(started.seen[1]?.connection).to.equal(started.seen[0]?.connection);
      expect(started.seen[1]?.connection.listener.table).to.equal(table);
      expect(started.seen[1]?.connection.listener.publicPortLabel).to.equal("8080");
      expect(started.events.of("added", "removed")).to.deep.equal(["added"]);
    });

    it("certificates, and says which names are served", async () => {
      const started = startManager();
      await started.manager.apply(plan([https(443)]));
      expect(await failureOf(connectSecure(started))).to.equal("ERR_SSL_TLSV1_UNRECOGNIZED_NAME");
      await started.manager.apply(plan([https(443)], { tls: certificates }));
      const socket = await connectSecure(started);
      expect(socket.getPeerX509Certificate()?.subject).to.equal("CN=a.example");
      expect(started.events.names).to.deep.equal(["exact a.example"]);
      await started.manager.apply(plan([]));
      expect(started.events.names).to.deep.equal([]);
    });
  });

  describe("a removed listener", () => {
    it("ends idle connections, finishes requests, and then is gone", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80), http(81)]));
      const [silent, busy, other] = [
        await connect(started),
        await connect(started),
        await connect(started, 81),
      ];
      busy.send(request);
      await eventually(() => started.seen.length === 1 && started.events.of("opened").length === 3);
      await started.manager.apply(plan([http(81)]));
      expect(await silent.untilEnd()).to.equal("");
      expect(started.manager.boundPorts()).to.deep.equal([81]);
      expect(started.events.of("bound").at(-1)).to.equal("bound 81");
      expect(started.events.of("listeners").at(-1)).to.equal("listeners 1/1");
      answer(started.seen[0]?.client as never);
      expect(await busy.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
      busy.socket.destroy();
      await eventually(() => started.events.of("drain_completed").length === 1);
      expect(
        started.events.of("removed", "drained", "drain_completed", "drain_exceeded", "cut"),
      ).to.deep.equal(["removed", "drained", "drain_completed"]);
      await eventually(() => started.events.of("listeners").at(-1) === "listeners 1/0");
      expect(other.closed).to.equal(false);
    });

    it("is ended by force after its time, and what that cut is counted", async () => {
      const log = fakeLog();
      const started = startManager({ drainTimeoutMs: 50, log });
      await started.manager.apply(plan([http(80)]));
      const busy = await connect(started);
      busy.send(request);
      await eventually(() => started.seen.length === 1);
      const closes: string[] = [];
      (started.seen[0] as (typeof started.seen)[0]).client.onClose = (reason) => closes.push(reason);
      await started.manager.apply(plan([]));
      await eventually(() => started.events.of("cut").length === 1);
      expect(started.events.of("drain_exceeded", "drain_completed", "cut")).to.deep.equal([
        "drain_exceeded",
        "cut drain_exceeded 1",
      ]);
      expect(log.lines.at(-1)).to.deep.include({ level: "info", message: "listener cut off" });
      expect(log.lines.at(-1)?.fields).to.include({ listener: 80, cut: 1 });
      expect(closes).to.deep.equal(["shutdown"]);
      await busy.untilEnd();
    });

    it("can come back while the old one still drains", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const busy = await connect(started);
      busy.send(request);
      await eventually(() => started.seen.length === 1);
      await started.manager.apply(plan([]));
      await started.manager.apply(plan([http(80)]));
      const young = await connect(started);
      young.send(request);
      await eventually(() => started.seen.length === 2);
      expect(started.seen[0]?.connection.listener.draining).to.equal(true);
      expect(started.seen[1]?.connection.listener.draining).to.equal(false);
    });

    it("gives its port to another protocol at once", async () => {
      const portMap = new Map([[80, 0]]);
      const started = startManager({ portMap });
      await started.manager.apply(plan([http(80)]));
      const port = started.manager.localPort(80) as number;
      portMap.set(80, port);
      await started.manager.apply(plan([https(80)], { tls: certificates }));
      expect(started.manager.localPort(80)).to.equal(port);
      expect(started.events.of("added", "removed", "bind_failed")).to.deep.equal([
        "added",
        "removed",
        "added",
      ]);
    });
  });

  describe("a port that is taken", () => {
    it("is counted, leaves the others alone, and is tried again by itself", async () => {
      const taken = await occupy();
      const started = startManager({
        portMap: new Map([
          [80, taken.port],
          [81, 0],
        ]),
        bindRetryMs: 20,
      });
      await started.manager.apply(plan([http(80), http(81)]));
      expect(started.manager.boundPorts()).to.deep.equal([81]);
      expect(started.events.of("bind_failed").length).to.be.greaterThan(0);
      expect(started.errors[0]).to.equal("listener cannot be bound");
      await eventually(() => started.events.of("bind_failed").length >= 2);
      taken.close();
      await eventually(() => started.manager.boundPorts().length === 2);
      expect(started.events.of("bound").at(-1)).to.equal("bound 80,81");
    });

    it("is tried again with each plan", async () => {
      const taken = await occupy();
      const started = startManager({ portMap: new Map([[80, taken.port]]) });
      await started.manager.apply(plan([http(80)]));
      await new Promise((resolve) => taken.close(resolve));
      await started.manager.apply(plan([http(80)]));
      expect(started.manager.boundPorts()).to.deep.equal([80]);
    });

    it("is waited for by every plan that has it", async () => {
      const started = startManager();
      void started.manager.apply(plan([http(80)]));
      await started.manager.apply(plan([http(80)]));
      expect(started.manager.boundPorts()).to.deep.equal([80]);
      expect(started.events.of("added", "bind_failed")).to.deep.equal(["added"]);
    });

    it("is forgotten with its listener", async () => {
      const taken = await occupy();
      const started = startManager({ portMap: new Map([[80, taken.port]]) });
      await started.manager.apply(plan([http(80)]));
      await started.manager.apply(plan([]));
      expect(started.events.of("added", "removed", "drain_completed")).to.deep.equal([]);
    });
  });

  describe("PROXY protocol", () => {
    it("is a matter of each listener, and changes in place", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      const accepting = { ...http(81), proxyProtocol: { accepted: true, trustedPeers: ["127.0.0.1/32"] } };
      await started.manager.apply(plan([http(80), accepting]));
      const header = "PROXY TCP4 192.0.2.7 192.0.2.1 1234 80\r\n";
      const get = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      const ask = async (port: number, text: string): Promise<readonly string[]> => {
        const client = await connect(started, port);
        client.socket.write(text);
        return statusesOf(await client.untilEnd());
      };
      expect(await ask(81, header + get)).to.deep.equal(["200"]);
      expect(await ask(81, get)).to.deep.equal([]);
      expect(await ask(80, get)).to.deep.equal(["200"]);
      expect(started.events.of("proxy-protocol-header")).to.have.length(1);
      expect(started.seen.map(({ connection }) => connection.proxied)).to.deep.equal([true, false]);
      await started.manager.apply(plan([http(80), http(81)]));
      expect(await ask(81, get)).to.deep.equal(["200"]);
      expect(started.events.of("added")).to.have.length(2);
    });

    it("is for the peers that the listener trusts, and for none where it names none", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      const accepting = (trustedPeers: readonly string[]) => ({
        ...http(80),
        proxyProtocol: { accepted: true, trustedPeers },
      });
      const text =
        "PROXY TCP4 192.0.2.7 192.0.2.1 1234 80\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      const ask = async (): Promise<readonly string[]> => {
        const client = await connect(started, 80);
        client.socket.on("error", () => {});
        client.socket.write(text);
        return statusesOf(await client.untilEnd());
      };
      for (const [trusted, statuses] of [
        [["192.0.2.0/24"], []],
        [[], []],
        [["::1/128", "127.0.0.0/8"], ["200"]],
      ] as const) {
        await started.manager.apply(plan([accepting(trusted)]));
        expect(await ask()).to.deep.equal(statuses);
      }
      expect(started.events.of("proxy-protocol-peer")).to.have.length(2);
      expect(started.events.of("added")).to.have.length(1);
    });

    it("leaves connections alone that are there when it changes", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80)]));
      const open = await connect(started, 80);
      const get = "GET / HTTP/1.1\r\nHost: a\r\n";
      open.socket.write(`${get}\r\n`);
      await open.until(/200/);
      const proxyProtocol = { accepted: true, trustedPeers: ["127.0.0.1/32"] };
      await started.manager.apply(plan([{ ...http(80), proxyProtocol }]));
      open.socket.write(`${get}Connection: close\r\n\r\n`);
      expect(statusesOf(await open.untilEnd())).to.deep.equal(["200", "200"]);
    });

    it("is not waited for when the listener goes, nor longer than its time", async () => {
      const settings = { ...noProxyProtocol, accepted: true, timeoutMs: 50 };
      const started = startManager({ proxyProtocol: settings });
      await started.manager.apply(plan([http(80)]));
      const slow = await connect(started);
      slow.socket.write("PROXY ");
      await slow.untilEnd();
      expect(started.events.of("proxy-protocol-timeout")).to.have.length(1);
      await started.manager.shutdown({ acceptMs: 0, graceMs: 0, timeoutMs: 0 }, AbortSignal.abort());

      const patient = startManager({ proxyProtocol: { ...settings, timeoutMs: 60_000 } });
      await patient.manager.apply(plan([http(80)]));
      const waiting = await connect(patient);
      waiting.socket.write("PROXY ");
      await eventually(() => patient.events.of("opened").length === 1);
      await patient.manager.apply(plan([]));
      await waiting.untilEnd();
      expect(patient.events.of("proxy-protocol-timeout", "drain_exceeded")).to.deep.equal([]);
    });
  });

  describe("limits", () => {
    it("closes connections beyond the number of all listeners together", async () => {
      const started = startManager({ gate: new ConnectionGate(2) });
      await started.manager.apply(plan([http(80), http(81)]));
      const first = await connect(started);
      await connect(started, 81);
      const third = await connect(started, 81);
      await third.untilEnd();
      expect(started.events.of("refused")).to.include("refused 81 connections");
      first.socket.destroy();
      await eventually(() => started.events.of("closed").length === 1);
      const fourth = await connect(started);
      fourth.send(request);
      await eventually(() => started.seen.length === 1);
    });

    it("closes connections beyond the number of their listener, which may change", async () => {
      const gate = new ConnectionGate(3);
      const started = startManager({ gate, maxConnections: 2 });
      await started.manager.apply(plan([{ ...http(80), maxConnections: 1 }, http(81)]));
      const first = await connect(started);
      await eventually(() => started.events.of("opened").length === 1);
      await (await connect(started)).untilEnd();
      await connect(started, 81);
      await eventually(() => started.events.of("opened").length === 2);
      await started.manager.apply(plan([http(80), http(81)]));
      const second = await connect(started);
      await eventually(() => started.events.of("opened").length === 3);
      await (await connect(started)).untilEnd();
      expect(started.events.of("refused")).to.deep.equal([
        "refused 80 listener-connections",
        "refused 80 connections",
      ]);
      first.socket.destroy();
      second.socket.destroy();
      await eventually(() => started.events.of("closed").length === 2);
      const later = [await connect(started), await connect(started)];
      await eventually(() => started.events.of("opened").length === 5);
      for (const { socket } of later) socket.destroy();
      await eventually(() => started.events.of("closed").length === 4);
      await connect(started, 81);
      await eventually(() => started.events.of("opened").length === 6);
      await (await connect(started, 81)).untilEnd();
      expect(started.events.of("refused").at(-1)).to.equal("refused 81 listener-connections");
    });

    it("closes a connection that stays silent", async () => {
      const started = startManager({ firstByteTimeoutMs: 30 });
      await started.manager.apply(plan([http(80)]));
      const client = await connect(started);
      expect(await client.untilEnd()).to.equal("");
    });

    it("leaves an unfinished method to the HTTP/1 front", async () => {
      const started = startManager({ firstByteTimeoutMs: 1_000 }, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80)]));
      const client = await connect(started);
      client.send("PR");
      const silent = await connect(started);
      await silent.untilEnd();
      client.send("OPFIND / HTTP/1.1\r\nHost: a\r\n\r\n");
      expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
    });

    it("lets go of a client that leaves before its first byte", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const client = await connect(started);
      await eventually(() => started.events.of("opened").length === 1);
      client.socket.end();
      await eventually(() => started.events.of("closed").length === 1);
    });
  });

  describe("shutdown", () => {
    const soon = { acceptMs: 40, graceMs: 60_000, timeoutMs: 0 };

    it("accepts for a while and asks clients to leave, then finishes what is under way", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const [busy, idle] = [await connect(started), await connect(started)];
      busy.send(request);
      await eventually(() => started.seen.length === 1 && started.events.of("opened").length === 2);
      const down = started.manager.shutdown({ ...soon, acceptMs: 60_000 }, AbortSignal.timeout(60_000));
      const late = await connect(started);
      late.send(request);
      await eventually(() => started.seen.length === 2);
      answer(started.seen[1]?.client as never);
      expect(await late.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
      expect(idle.ended).to.equal(false);
      void down;
    });

    it("goes on to follow changes of what it serves, and opens no socket", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      void started.manager.shutdown({ ...soon, acceptMs: 60_000 }, AbortSignal.timeout(60_000));
      const next = plan([http(80), http(81)], { table: { ...emptyPortTable } });
      await started.manager.apply(next);
      const late = await connect(started);
      late.send(request);
      await eventually(() => started.seen.length === 1);
      expect(started.seen[0]?.connection.listener.table).to.equal(next.tables.get(80));
      expect(started.manager.boundPorts()).to.deep.equal([80]);
    });

    it("ends idle connections when it stops accepting, and resolves after the last answer", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const port = started.manager.localPort(80) as number;
      const [busy, idle] = [await connect(started), await connect(started)];
      busy.send(request);
      await eventually(() => started.seen.length === 1 && started.events.of("opened").length === 2);
      let done = false;
      const down = started.manager.shutdown(soon, new AbortController().signal).then(() => (done = true));
      expect(await idle.untilEnd()).to.equal("");
      const late = await RawClient.connect(port).catch((error: NodeJS.ErrnoException) => error.code);
      expect(late).to.equal("ECONNREFUSED");
      expect(done).to.equal(false);
      answer(started.seen[0]?.client as never);
      expect(await busy.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
      busy.socket.destroy();
      await down;
      expect(started.events.of("cut")).to.deep.equal([]);
    });

    it("cuts what is left at the end, and counts it", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const busy = await connect(started);
      busy.send(request);
      await eventually(() => started.seen.length === 1);
      await started.manager.shutdown(
        { acceptMs: 10, graceMs: 20, timeoutMs: 10 },
        new AbortController().signal,
      );
      expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
    });

    it("lets WebSockets go on until the end, then cuts and counts them", async () => {
      const started = startManager({}, (_, _head, client) => {
        const tunnel = client.upgrade([]);
        tunnel?.socket.on("data", (chunk) => tunnel.socket.write(chunk));
        tunnel?.socket.on("error", () => {});
      });
      await started.manager.apply(plan([http(80)]));
      const [client, idle] = [await connect(started), await connect(started)];
      client.send(request.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
      await client.until(/101/);
      const hurry = new AbortController();
      const down = started.manager.shutdown(soon, hurry.signal);
      await idle.untilEnd();
      client.send("still here");
      await client.until(/still here/);
      hurry.abort();
      await down;
      await client.untilEnd();
      expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
    });

    it("asks HTTP/2 clients to leave, and lets their streams finish", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const session = connectHttp2(`http://127.0.0.1:${started.manager.localPort(80)}`);
      others.push({ close: () => session.destroy() });
      let body = "";
      const stream = session.request({ ":path": "/" });
      stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
      const ended = new Promise((resolve) => stream.on("close", resolve));
      await eventually(() => started.seen.length === 1);
      const asked = new Promise((resolve) => session.on("goaway", resolve));
      const down = started.manager.shutdown(soon, new AbortController().signal);
      expect(await asked).to.equal(0);
      answer(started.seen[0]?.client as never);
      await ended;
      expect([body, stream.rstCode]).to.deep.equal(["hello", 0]);
      await down;
      expect(started.events.of("cut")).to.deep.equal([]);
    });

    it("cuts at once when told to hurry", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const busy = await connect(started);
      busy.send(request);
      await eventually(() => started.seen.length === 1);
      const hurry = new AbortController();
      const down = started.manager.shutdown(
        { acceptMs: 60_000, graceMs: 60_000, timeoutMs: 60_000 },
        hurry.signal,
      );
      hurry.abort();
      await down;
      expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
    });

    it("ignores plans that come later", async () => {
      const started = startManager();
      await started.manager.shutdown(soon, AbortSignal.abort());
      await started.manager.apply(plan([http(80)]));
      expect(started.manager.boundPorts()).to.deep.equal([]);
    });
  });
});
