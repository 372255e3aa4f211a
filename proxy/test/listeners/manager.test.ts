import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { expect } from "chai";
import { ownLoopback as bindAddress } from "../../../common/test/own-loopback.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import type { PortTable } from "../../src/exchange/port-table.ts";
import { answer, eventually } from "../http/h1/harness.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { failureOf, readUntil, tlsPort } from "../tls/harness.ts";
import {
  closeLater,
  connect,
  connectSecure,
  http,
  https,
  plan,
  request,
  startManager,
  stopManagers,
} from "./harness.ts";
import { samePublicPorts } from "./public-ports.ts";

const certificate = issueCertificate(["a.example"]);
const certificates = tlsPort(["exact", "a.example", [certificate]]);

describe("the listener manager", () => {
  afterEach(stopManagers);

  /** Occupies a port that no other process gets when it is free again, so that listeners cannot bind it. */
  const occupy = (): Promise<Server & { readonly port: number }> =>
    new Promise((resolve) => {
      const server = createServer();
      closeLater(() => server.close());
      server.listen(0, bindAddress, () =>
        resolve(Object.assign(server, { port: (server.address() as AddressInfo).port })),
      );
    });

  describe("protocols", () => {
    it("an http listener serves HTTP/1 and describes the accepted connection", async () => {
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
      const { port, portLabel, publicPorts, secure } = connection?.listener ?? {};
      expect({ port, portLabel, publicPorts, secure }).to.deep.equal({
        port: 80,
        portLabel: "80",
        publicPorts: samePublicPorts(8000),
        secure: false,
      });
      expect(started.manager.boundPorts()).to.deep.equal([80]);
      expect(started.events.of("added", "bound").at(-1)).to.equal("bound 80");
      client.socket.destroy();
      await eventually(() => started.events.of("closed").length === 1);
      expect(started.events.of("opened", "closed")).to.deep.equal(["opened 80", "closed 80"]);
    });

    it("the log names the port, owner and socket of a listener", async () => {
      const log = fakeLog();
      const { manager } = startManager({ log });
      await manager.apply(plan([http(80, 8000)]));
      const fields = { listener: 80, public_port: 8000, owner: "ns/gw", protocol: "http" };
      const local_port = manager.localPort(80);
      expect(log.lines).to.deep.equal([
        { level: "info", message: "listener added", fields: { ...fields, local_port } },
      ]);
      await manager.apply(plan([]));
      await eventually(() => log.lines.length === 3);
      expect(log.lines[1]).to.deep.equal({ level: "info", message: "listener removed", fields });
      expect(log.lines[2]?.fields).to.include(fields);
    });

    it("an http listener serves HTTP/2 with prior knowledge", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([http(80)]));
      const session = connectHttp2(`http://127.0.0.1:${started.manager.localPort(80)}`);
      closeLater(() => session.close());
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
      it(`a connection that begins with ${method}, byte by byte, is served in the right protocol`, async () => {
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

    it("an https listener serves HTTP/1 and HTTP/2, as the client negotiates", async () => {
      const started = startManager({}, (_, _head, client) => answer(client));
      await started.manager.apply(plan([https(443)], { tls: certificates }));
      const socket = await connectSecure(started, { ALPNProtocols: ["http/1.1"] });
      socket.write(request);
      expect(await readUntil(socket, /hello$/)).to.match(/^HTTP\/1\.1 200 OK/);
      const session = connectHttp2(`https://127.0.0.1:${started.manager.localPort(443)}`, {
        servername: "a.example",
        rejectUnauthorized: false,
      });
      closeLater(() => session.close());
      expect(await readUntil(session.request({ ":path": "/" }) as never, /hello$/)).to.equal("hello");
      expect(started.seen.map(({ head }) => head.version)).to.deep.equal(["1.1", "2.0"]);
      expect(started.seen.map(({ connection }) => connection.tls)).to.deep.equal([
        { serverName: "a.example", version: "TLSv1.3" },
        { serverName: "a.example", version: "TLSv1.3" },
      ]);
      expect(started.seen[0]?.connection.listener.secure).to.equal(true);
      expect(started.events.of("handshake")).to.deep.equal(["handshake ok TLSv1.3", "handshake ok TLSv1.3"]);
    });

    it("a TLS client that half-closes after its request gets the response", async () => {
      const started = startManager({});
      await started.manager.apply(plan([https(443)], { tls: certificates }));
      const socket = await connectSecure(started, { allowHalfOpen: true } as ConnectionOptions);
      socket.end(request);
      await eventually(() => started.seen.length === 1);
      const reading = readUntil(socket, /hello$/);
      answer(started.seen[0]?.client as never);
      await reading;
    });

    it("an HTTPS and a TLS listener of one port share one socket", async () => {
      const started = startManager();
      await started.manager.apply(plan([https(443), { port: 443, publicPort: 443, protocol: "tls" }]));
      expect(started.manager.boundPorts()).to.deep.equal([443]);
      expect(started.events.of("added")).to.deep.equal(["added"]);
      await started.manager.apply(plan([{ port: 443, publicPort: 443, protocol: "tls" }]));
      expect(started.events.of("added", "removed")).to.deep.equal(["added"]);
    });
  });

  describe("changes without a new socket", () => {
    it("the next request of an open connection gets a changed table and public port", async () => {
      const table: PortTable = {
        pathLevel: () => "base",
        filtersOf: undefined,
        clientRulesOf: undefined,
        match: () => undefined,
        isMisdirected: () => false,
        groupOf: () => undefined,
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
      expect(started.seen[1]?.connection.listener.publicPorts.gateway.label).to.equal("8080");
      expect(started.events.of("added", "removed")).to.deep.equal(["added"]);
    });

    it("changed certificates are served, and the served names are reported", async () => {
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
    it("a removed listener closes idle connections, finishes requests, and then reports its end", async () => {
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

    it("a removed listener serves an accepted connection whose request arrives just afterwards", async () => {
      const started = startManager();
      await started.manager.apply(plan([http(80)]));
      const late = await connect(started);
      await eventually(() => started.events.of("opened").length === 1);
      await started.manager.apply(plan([]));
      late.send(request);
      await eventually(() => started.seen.length === 1);
      answer(started.seen[0]?.client as never);
      expect(await late.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
      late.socket.destroy();
      await eventually(() => started.events.of("drain_completed").length === 1);
    });

    it("a removed listener is cut after the drain timeout, and cut requests are counted", async () => {
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
      expect(log.lines.at(-1)).to.deep.include({
        level: "info",
        message: "listener drain timed out: connections were cut",
      });
      expect(log.lines.at(-1)?.fields).to.include({ listener: 80, cut: 1 });
      expect(closes).to.deep.equal(["shutdown"]);
      await busy.untilEnd();
    });

    it("a removed listener drains without a time limit when the drain timeout is 0", async () => {
      const started = startManager({ drainTimeoutMs: 0 }, (_, _head, client) => {
        client.write("");
      });
      await started.manager.apply(plan([http(80)]));
      const busy = await connect(started);
      busy.send(request);
      await eventually(() => started.seen.length === 1);
      await started.manager.apply(plan([]));
      await eventually(() => started.events.of("removed").length === 1);
      // A limit of no time would have been over by now.
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(started.events.of("drain_exceeded")).to.deep.equal([]);
      answer((started.seen[0] as (typeof started.seen)[0]).client);
      await busy.untilEnd();
      await eventually(() => started.events.of("drain_completed").length === 1);
      expect(started.events.of("cut", "drain_exceeded")).to.deep.equal([]);
    });

    it("a removed listener can be added again while the old one still drains", async () => {
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

    it("the port of a removed listener is free for another protocol at once", async () => {
      const portMap = new Map([[80, 0]]);
      const started = startManager({ bindAddress, portMap });
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

  describe("a port that is in use", () => {
    it("a port that is in use is counted, does not affect other listeners, and is tried again by itself", async () => {
      const taken = await occupy();
      const started = startManager({
        bindAddress,
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

    it("a port that was in use is tried again with each plan", async () => {
      const taken = await occupy();
      const started = startManager({ bindAddress, portMap: new Map([[80, taken.port]]) });
      await started.manager.apply(plan([http(80)]));
      await new Promise((resolve) => taken.close(resolve));
      await started.manager.apply(plan([http(80)]));
      expect(started.manager.boundPorts()).to.deep.equal([80]);
    });

    it("every plan with a port that is being bound waits for it", async () => {
      const started = startManager();
      void started.manager.apply(plan([http(80)]));
      await started.manager.apply(plan([http(80)]));
      expect(started.manager.boundPorts()).to.deep.equal([80]);
      expect(started.events.of("added", "bind_failed")).to.deep.equal(["added"]);
    });

    it("a removed listener whose port was in use reports no drain", async () => {
      const taken = await occupy();
      const started = startManager({ bindAddress, portMap: new Map([[80, taken.port]]) });
      await started.manager.apply(plan([http(80)]));
      await started.manager.apply(plan([]));
      expect(started.events.of("added", "removed", "drain_completed")).to.deep.equal([]);
    });
  });
});
