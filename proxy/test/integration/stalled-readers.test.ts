import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { holdClock } from "../http/held-clock.ts";
import { frame, frameTypes, preface, RawPeer, requestFrame, uint32 } from "../http/h2/frames.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, type Gateway, startGateway, startTcp } from "./gateway.ts";
import { l4Route, startL4 } from "./l4.ts";

const kibibyte = 1024;
/** The largest number of bytes that the proxy may hold for a reader that has stalled. */
const maxHeldBytes = 64 * kibibyte;

/** One piece of memory, however much is sent of it: what grows meanwhile is the proxy's. */
const piece = Buffer.alloc(1024 * kibibyte, "x");

const request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
const upgrade =
  "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const response = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
const hugeWindow = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);

describeCodecs("clients that do not read their responses", () => {
  const clock = holdClock();
  const closing: (() => unknown)[] = [];
  const certificate = issueCertificate(["a.test"]);
  let gateway: Pick<Gateway, "metrics" | "port"> & Partial<Gateway>;
  let backends: Socket[];

  before(() => setFlagsFromString("--expose-gc"));

  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  /** A backend that sends as much as is taken, and keeps on doing so. */
  const startBackend = async (answer: string): Promise<number> => {
    backends = [];
    const { port, close } = await startTcp((socket) => {
      backends.push(socket);
      const send = (): void => {
        while (socket.write(piece));
      };
      socket.on("drain", send);
      socket.once("data", () => {
        socket.write(answer);
        send();
      });
      if (answer === "") socket.emit("data");
    });
    closing.push(close);
    return port;
  };

  const start = async (answer = response, responseMemoryBytes?: number): Promise<void> => {
    const plan = { ports: [await startBackend(answer)], hosts: ["a.test"], certificate };
    const started = await startGateway(
      plan,
      [],
      undefined,
      responseMemoryBytes === undefined ? {} : { responseMemoryBytes },
    );
    closing.push(() => started.close());
    gateway = started;
  };

  /** A connection that nothing is read from. */
  const dial = async (port: number, secure: boolean, alpn = "http/1.1"): Promise<Socket> => {
    const options = { port, host: "127.0.0.1", servername: "a.test", rejectUnauthorized: false };
    const socket = secure ? connectTls({ ...options, ALPNProtocols: [alpn] }) : connect(options);
    socket.on("error", () => undefined);
    closing.push(() => socket.destroy());
    await once(socket, secure ? "secureConnect" : "connect");
    return socket.pause();
  };

  const portOf = (secure: boolean): number => (secure ? (gateway.tlsPort ?? 0) : gateway.port);

  const speakHttp1 = async (count: number, secure: boolean, text = request): Promise<void> => {
    for (let i = 0; i < count; i++) {
      (await dial(portOf(secure), secure)).write(text);
    }
  };

  /** Requests of one HTTP/2 connection, ten on each. */
  const speakHttp2 = async (count: number, secure: boolean, settings: Buffer): Promise<RawPeer[]> => {
    const peers: RawPeer[] = [];
    for (let i = 0; i < count; i += 10) {
      const socket = await dial(portOf(secure), secure, "h2");
      const peer = new RawPeer(socket, { asServer: false });
      if (settings === noWindow) socket.resume();
      peer.send(preface, frame(frameTypes.settings, 0, 0, settings));
      for (let j = 0; j < 10; j++) peer.send(requestFrame(2 * j + 1, { end: true }));
      peers.push(peer);
    }
    return peers;
  };

  const startTcpListener = async (): Promise<void> => {
    const port = await startBackend("");
    const l4 = await startL4({ tcp: l4Route(["ns/db/5432", 1]), endpoints: { "ns/db/5432": [port] } });
    closing.push(() => l4.close());
    gateway = { metrics: l4.metrics, port: l4.tcpPort };
  };

  const speakTcp = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await dial(gateway.port, false);
  };

  const waitingBytes = async (): Promise<number> => {
    const { body } = await gateway.metrics.expose();
    return Number(/^svc_proxy_response_waiting_bytes (\d+)$/m.exec(body)?.[1]);
  };

  /** Buffers that are in use, and those that are waiting to be collected. */
  const usedBytes = (): number => {
    (runInNewContext("gc") as () => void)();
    return process.memoryUsage().arrayBuffers;
  };

  /** Resolves when the proxy reads no more from the backends. */
  const untilStopped = async (count: number): Promise<void> => {
    let sent = -1;
    await eventually(() => backends.length === count);
    for (let quiet = 0; quiet < 50;) {
      const now = backends.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
      quiet = now === sent && backends.every((socket) => socket.writableNeedDrain) ? quiet + 1 : 0;
      sent = now;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };

  const count = 20;
  /** Bytes that the test itself, or the socket of a backend, reads ahead in addition. */
  const readAheadBytes: Readonly<Record<string, number>> = {
    "HTTP/1": 64 * kibibyte,
    "HTTP/1 over TLS": 128 * kibibyte,
    WebSocket: 192 * kibibyte,
    "a TCP listener": 64 * kibibyte,
  };
  type Case = { readonly begin: () => Promise<unknown>; readonly speak: () => Promise<unknown> };
  const cases: Record<string, Case> = {
    "HTTP/1": { begin: () => start(), speak: () => speakHttp1(count, false) },
    "HTTP/1 over TLS": { begin: () => start(), speak: () => speakHttp1(count, true) },
    "HTTP/2 with a window of 0": { begin: () => start(), speak: () => speakHttp2(count, false, noWindow) },
    "HTTP/2 over TLS with a window of 0": {
      begin: () => start(),
      speak: () => speakHttp2(count, true, noWindow),
    },
    "HTTP/2 with a large window, over a connection that is not read": {
      begin: () => start(),
      speak: () => speakHttp2(count, false, hugeWindow),
    },
    WebSocket: { begin: () => start(switching), speak: () => speakHttp1(count, false, upgrade) },
    "a TCP listener": { begin: startTcpListener, speak: () => speakTcp(count) },
  };
  for (const [name, { begin, speak }] of Object.entries(cases)) {
    it(`a client that does not read holds at most 64 KiB of content: ${name}`, async () => {
      await begin();
      // What tests before this one have left behind.
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve, usedBytes()));
      const before = usedBytes();
      await speak();
      await untilStopped(count);
      // What was read before is collected sooner or later.
      const perReader = maxHeldBytes + 16 * kibibyte + (readAheadBytes[name] ?? 0);
      const allowed = count * perReader + 2 * 1024 * kibibyte;
      await eventually(() => usedBytes() - before < allowed);
      const waiting = await waitingBytes();
      expect(waiting).to.be.within(count * kibibyte, count * (maxHeldBytes + 4 * kibibyte));
    });
  }

  it("clients that have left no longer count in the response memory", async () => {
    await start();
    await speakHttp1(10, false);
    await speakHttp2(10, false, noWindow);
    await untilStopped(20);
    expect(await waitingBytes()).to.be.above(10 * 1024);
    for (const close of closing.splice(2)) await close();
    await eventually(() => backends.every(({ destroyed }) => destroyed));
    expect(await waitingBytes()).to.equal(0);
  });

  for (const [name, speak] of [
    ["HTTP/1", () => speakHttp1(30, false)],
    ["HTTP/1 over TLS", () => speakHttp1(30, true)],
    ["HTTP/2", () => speakHttp2(30, false, noWindow)],
  ] as const) {
    it(`stalled clients are cut, longest first, when the response memory is full: ${name}`, async () => {
      const budget = 10 * maxHeldBytes;
      await start(response, budget);
      await speak();
      await eventually(() => backends.length >= 30);
      // In any order of events, no more is held in the end than allowed, and clients that read are served.
      // Clients are cut after a time without progress, which begins when the memory is full: sooner or later.
      await clock.passing(
        eventually(() => gateway.records?.some(({ error }) => error === "response memory full") === true),
      );
      let held = Number.POSITIVE_INFINITY;
      while (held >= budget) {
        clock.advance(2000);
        await new Promise((resolve) => setTimeout(resolve, 2));
        held = await waitingBytes();
      }
      const { body } = await gateway.metrics.expose();
      expect(body).to.match(/^svc_proxy_limits_reached_total\{limit="response-memory"\} \d+$/m);
      const reader = await dial(gateway.port, false);
      let received = 0;
      reader.on("data", (bytes: Buffer) => (received += bytes.length));
      reader.resume();
      reader.write(request);
      await clock.passing(eventually(() => received > 100 * maxHeldBytes));
    });
  }

  it("a client that reads slowly and steadily is not cut when stalled ones are", async () => {
    await start(response, 9.5 * maxHeldBytes);
    const [peer] = (await speakHttp2(10, false, noWindow)) as [RawPeer];
    const resetStreams = (): number[] =>
      peer.frames.filter(({ type }) => type === frameTypes.rstStream).map(({ streamId }) => streamId);
    let received = 0;
    for (let allowed = 10_000; allowed <= 400_000; allowed += 10_000) {
      peer.send(...[0, 1].map((id) => frame(frameTypes.windowUpdate, 0, id, uint32(10_000))));
      await peer.when(() => {
        received = peer.frames
          .filter(({ type, streamId }) => type === frameTypes.data && streamId === 1)
          .reduce((sum, { payload }) => sum + payload.length, 0);
        return received >= allowed || resetStreams().includes(1) ? true : undefined;
      });
      clock.advance(500);
    }
    expect([resetStreams().includes(1), resetStreams().length > 0]).to.deep.equal([false, true]);
  });
});
