import { expect } from "chai";
import { once } from "node:events";
import { connect as connectPlain, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { eventually } from "../http/h1/harness.ts";
import { holdClock } from "../http/held-clock.ts";
import { issueCertificate } from "./certificates.ts";
import { commonTlsOptions } from "../../src/tls/server-options.ts";
import {
  capturedHello,
  failureOf,
  readUntil,
  describeHandshakes,
  startTls,
  stopTls,
  tlsPort,
  wideSettings,
} from "./harness.ts";

const a = issueCertificate(["a.example"]);
const b = issueCertificate(["b.example"]);

describeHandshakes("limits of TLS handshakes", () => {
  afterEach(stopTls);

  const helloOf = (): Promise<Buffer> => capturedHello({ servername: "a.example" });

  const plain = async (port: number, localAddress = "127.0.0.1"): Promise<Socket & { done?: boolean }> => {
    const socket: Socket & { done?: boolean } = connectPlain({
      port,
      host: "127.0.0.1",
      localAddress,
      allowHalfOpen: true,
    });
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("end", () => (socket.done = true));
    socket.on("close", () => (socket.done = true));
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    return socket;
  };

  it("a connection that sends nothing is closed after the handshake timeout", async () => {
    const { port, results } = await startTls({ handshakeTimeoutMs: 60 });
    const socket = await plain(port);
    await eventually(() => socket.done === true);
    expect(results).to.deep.equal([{ result: "fail", version: "unknown", reason: "timeout" }]);
  });

  it("a handshake that trickles in is closed after the handshake timeout, in the ClientHello and after it", async () => {
    const hello = await helloOf();
    const started = await startTls({ handshakeTimeoutMs: 100 });
    started.serve(tlsPort(["default", "*", [a]]));
    for (const [sent, rest] of [
      [hello.subarray(0, 1), hello.subarray(1)],
      [hello, Buffer.from([0x17, 3, 3, 0, 70])],
    ] as const) {
      const socket = await plain(started.port);
      socket.write(sent);
      let at = 0;
      const trickle = setInterval(() => socket.write(rest.subarray(at, ++at)), 20);
      await eventually(() => socket.done === true);
      clearInterval(trickle);
      socket.destroy();
    }
    await eventually(() => started.results.length === 2);
    expect(started.results.map(({ reason }) => reason)).to.deep.equal(["timeout", "timeout"]);
    expect(started.handshakes.pending).to.equal(0);
  });

  /** A client that sends its ClientHello and nothing more. */
  const begun = async (port: number, localAddress = "127.0.0.1"): ReturnType<typeof plain> => {
    const socket = await plain(port, localAddress);
    socket.write(await helloOf());
    return socket;
  };

  it("handshakes beyond the limit are closed", async () => {
    const started = await startTls({ maxHandshakes: 2 });
    const { port, results, handshakes, connect, serve } = started;
    serve(tlsPort(["default", "*", [a]]));
    const held = [await begun(port), await begun(port)];
    await eventually(() => handshakes.shaking === 2);
    const refused = await begun(port);
    await eventually(() => refused.done === true);
    expect(results).to.deep.equal([{ result: "fail", version: "unknown", reason: "too many handshakes" }]);
    held[0]?.destroy();
    await eventually(() => handshakes.shaking === 1);
    await connect();
  });

  it("a connection that has sent nothing does not count as a handshake", async () => {
    const { port, results, handshakes, connect, serve } = await startTls({ maxHandshakes: 1 });
    serve(tlsPort(["default", "*", [a]]));
    const silent = await Promise.all(Array.from({ length: 20 }, () => plain(port)));
    await eventually(() => handshakes.pending === 20);
    await connect();
    await connect();
    expect(silent.filter(({ done }) => done === true)).to.have.length(0);
    for (const socket of silent) socket.destroy();
    await eventually(() => handshakes.pending === 0 && results.length === 2);
    expect(results.map(({ result }) => result)).to.deep.equal(["ok", "ok"]);
  });

  it("the oldest unfinished ClientHello of the network with the most is evicted for another one", async () => {
    const { port, results, handshakes, connect, serve } = await startTls({ maxHandshakes: 2 });
    serve(tlsPort(["default", "*", [a]]));
    const hello = await helloOf();
    const start = async (localAddress: string, pending: number): ReturnType<typeof plain> => {
      const socket = await plain(port, localAddress);
      await eventually(() => handshakes.pending === pending);
      socket.write(hello.subarray(0, 10));
      // The next one is read after this one.
      await connect();
      return socket;
    };
    const oldest = await start("127.0.0.2", 1);
    const younger = await start("127.0.0.2", 2);
    const other = await start("127.0.0.3", 3);
    await eventually(() => oldest.done === true);
    expect([younger.done, other.done]).to.deep.equal([undefined, undefined]);
    expect(results.filter(({ result }) => result === "fail")).to.deep.equal([
      { result: "fail", version: "unknown", reason: "too many handshakes" },
    ]);
  });

  it("a handshake is evicted from the network with the most for a client of a network with fewer", async () => {
    const { port, results, handshakes, connect, serve } = await startTls({ maxHandshakes: 3 });
    serve(tlsPort(["default", "*", [a]]));
    const flood: Awaited<ReturnType<typeof plain>>[] = [];
    for (let held = 1; held <= 3; held++) {
      flood.push(await begun(port, "127.0.0.2"));
      await eventually(() => handshakes.shaking === held);
    }
    await connect();
    await eventually(() => flood[0]?.done === true);
    expect(flood.map(({ done }) => done)).to.deep.equal([true, undefined, undefined]);
    await eventually(() => results.length === 2);
    expect(results.map(({ reason }) => reason)).to.deep.equal(["too many handshakes", undefined]);
  });

  it("no handshake is closed while the handshake timeout is off", async () => {
    const { port, results, handshakes, connect, serve } = await startTls({ handshakeTimeoutMs: 0 });
    serve(tlsPort(["default", "*", [a]]));
    const silent = await plain(port);
    const shaking = await begun(port);
    await eventually(() => handshakes.shaking === 1);
    for (let i = 0; i < 5; i++) await connect();
    expect([silent.done, shaking.done]).to.deep.equal([undefined, undefined]);
    await eventually(() => results.length === 5);
    expect(results.map(({ result }) => result)).to.deep.equal(["ok", "ok", "ok", "ok", "ok"]);
    const { handshakeTimeout = 0 } = commonTlsOptions({ ...wideSettings, handshakeTimeoutMs: 0 });
    expect(handshakeTimeout, "Node's own limit").to.be.greaterThan(7 * 24 * 60 * 60 * 1000);
  });

  describe("the eviction of handshakes", () => {
    const clock = holdClock();

    it("a handshake that has taken a quarter of its time is evicted for a new one", async () => {
      const { port, results, handshakes, connect, serve } = await startTls({
        maxHandshakes: 1,
        handshakeTimeoutMs: 2_000,
      });
      serve(tlsPort(["default", "*", [a]]));
      const slow = await begun(port);
      await eventually(() => handshakes.shaking === 1);
      clock.advance(400);
      expect(await failureOf(connect())).to.not.equal("connected");
      expect(slow.done).to.equal(undefined);
      clock.advance(200);
      await connect();
      await eventually(() => slow.done === true && results.length === 3);
      expect(results.map(({ reason }) => reason)).to.deep.equal([
        "too many handshakes",
        "timeout",
        undefined,
      ]);
    });
  });

  it("a client that leaves before or after its ClientHello frees its handshake", async () => {
    const hello = await helloOf();
    const { port, results, handshakes, serve } = await startTls();
    serve(tlsPort(["default", "*", [a]]));
    for (const [bytes, failures] of [
      [Buffer.alloc(0), 0],
      [hello.subarray(0, 20), 1],
      [hello, 2],
    ] as const) {
      const socket = await plain(port);
      await eventually(() => handshakes.pending === 1);
      socket.write(bytes);
      socket.end();
      await eventually(() => results.length === failures && handshakes.pending === 0);
      socket.destroy();
    }
    expect(results.map(({ result }) => result)).to.deep.equal(["fail", "fail"]);
  });

  it("two connections from one client port to two addresses are handled separately", async () => {
    const { port, serve, handshakes, opened } = await startTls({}, "0.0.0.0");
    serve(tlsPort(["exact", "a.example", [a]], ["exact", "b.example", [b]]));
    const one = connectPlain({ port, host: "127.0.0.1", localAddress: "127.0.0.1" });
    await once(one, "connect");
    const { localPort = 0 } = one;
    const other = connectPlain({ port, host: "127.0.0.2", localAddress: "127.0.0.1", localPort });
    await eventually(() => opened.length === 2);
    expect(handshakes.pending).to.equal(2);
    const names = [
      [one, "a.example"],
      [other, "b.example"],
    ] as const;
    const secure = names.map(([socket, servername]) =>
      connectTls({ socket, servername, rejectUnauthorized: false }),
    );
    const texts = await Promise.all(secure.map((socket) => readUntil(socket, /\|$/)));
    expect(texts).to.deep.equal(["a.example|", "b.example|"]);
  });

  it("a connection that does not speak TLS is closed", async () => {
    const { port, results, serve } = await startTls();
    serve(tlsPort(["default", "*", [a]]));
    const socket = await plain(port);
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await eventually(() => socket.done === true);
    expect(results.map(({ result }) => result)).to.deep.equal(["fail"]);
  });

  it("a ClientHello that arrives byte by byte is accepted", async () => {
    const { serve, results, port } = await startTls();
    serve(tlsPort(["exact", "a.example", [a]]));
    const hello = await helloOf();
    const socket = await plain(port);
    let answer: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => (answer = Buffer.concat([answer, chunk])));
    for (const byte of hello) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => answer.length > 100);
    expect(answer[0]).to.equal(22);
    expect(results).to.deep.equal([]);
  });
});
