import { mock } from "node:test";
import { expect } from "chai";
import type { UpstreamClient } from "../../../../src/upstream/upstream.ts";
import { field, flags, frame, frameTypes, type RawPeer, uint32 } from "../../../http/h2/frames.ts";
import { ReadBuffer } from "../../../../src/sockets/read-buffer.ts";
import { useHttp2Codec } from "../../../http2-codecs.ts";
import { data, goaway, head, settings } from "../server-frames.ts";
import {
  createClient,
  type Exchanged,
  exchange,
  FedBody,
  type RawBackend,
  startRawBackend,
} from "../support.ts";
import { Fields } from "../../../../src/message/fields.ts";

const setting = (id: number, value: number): Buffer =>
  frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]));
const windowOf = (id: number, by: number): Buffer => frame(frameTypes.windowUpdate, 0, id, uint32(by));
const [tableSize, maxStreams, initialWindow] = [1, 3, 4];
const settingsTimeout = 4;

describe("connections of the native HTTP/2 upstream client", () => {
  let client: UpstreamClient;
  let backend: RawBackend;
  let peer: RawPeer;

  before(() => useHttp2Codec("native"));
  after(() => useHttp2Codec(undefined));
  beforeEach(async () => {
    client = createClient();
    backend = await startRawBackend();
  });
  afterEach(async () => {
    client.close();
    await backend.close();
  });

  const accept = async (...frames: readonly Buffer[]): Promise<void> => {
    peer = await backend.accept();
    peer.send(settings, ...frames);
  };
  const requestOf = (id: number) => peer.frame((f) => f.type === frameTypes.headers && f.streamId === id);
  const bytesOf = (id: number): number =>
    peer.frames
      .filter((f) => f.type === frameTypes.data && f.streamId === id)
      .reduce((sum, { payload }) => sum + payload.length, 0);
  let questions = 0;
  const isAlive = async (): Promise<void> => {
    const question = String(++questions).padStart(8, "!");
    peer.send(frame(frameTypes.ping, 0, 0, Buffer.from(question)));
    await peer.frame((f) => f.type === frameTypes.ping && f.payload.toString() === question);
  };

  it("a connection begins with the preface, SETTINGS and its window", async () => {
    exchange(client, backend.port);
    await accept();
    await requestOf(1);
    const [first, second] = peer.frames;
    expect(first?.type).to.equal(frameTypes.settings);
    expect(first?.payload.toString("hex")).to.equal("000200000000000400010000000600020000");
    expect(second).to.deep.include({ type: frameTypes.windowUpdate, streamId: 0 });
    expect(second?.payload.readUInt32BE()).to.equal(256 * 65_536 - 65_535);
  });

  describe("a server that does not acknowledge the SETTINGS", () => {
    const acknowledgement = frame(frameTypes.settings, flags.ack, 0);
    const timeoutMs = 300;

    // The time in which a server has to acknowledge passes when a test says so.
    beforeEach(() => {
      client.close();
      client = createClient({ connectTimeoutMs: timeoutMs });
      mock.timers.enable({ apis: ["setTimeout"] });
    });
    afterEach(() => {
      client.close();
      // A timer that is cleared after the reset would remove one of the next test.
      mock.timers.runAll();
      mock.timers.reset();
    });

    const timeIsUp = async (): Promise<void> => {
      mock.timers.tick(timeoutMs);
      // A timer that is late expires at the end of the turn.
      await new Promise((resolve) => setImmediate(resolve));
    };

    it("a connection whose SETTINGS are not acknowledged takes no more requests, and ends with its last one", async () => {
      const first = exchange(client, backend.port);
      await accept();
      await requestOf(1);
      await timeIsUp();
      const second = exchange(client, backend.port);
      const next = await backend.accept();
      next.send(settings, acknowledgement);
      await next.ofType(frameTypes.headers);
      next.send(head(1, { end: true }));
      expect((await second.settled).ended).to.equal(true);
      peer.send(head(1, { end: true }));
      expect((await first.settled).ended).to.equal(true);
      expect(await peer.goawayCode()).to.equal(settingsTimeout);
    });

    it("a connection whose SETTINGS were acknowledged goes on", async () => {
      const first = exchange(client, backend.port);
      await accept(acknowledgement);
      await requestOf(1);
      await isAlive();
      await timeIsUp();
      peer.send(head(1, { end: true }));
      await first.settled;
      const second = exchange(client, backend.port);
      await requestOf(3);
      peer.send(head(3, { end: true }));
      expect((await second.settled).ended).to.equal(true);
      expect(backend.sockets).to.have.length(1);
    });
  });

  it("a window that the server makes smaller in the middle of a body goes below zero, and is paid back first", async () => {
    const body = new FedBody();
    exchange(client, backend.port, { method: "POST", body });
    await accept(windowOf(0, 1_000_000));
    await body.whenStarted;
    body.data(Buffer.alloc(60_000, 97));
    await peer.when(() => (bytesOf(1) === 60_000 ? true : undefined));
    // 65,535 - 60,000 are left: 1,000 less than 60,000 in all is 59,000 below zero.
    peer.send(setting(initialWindow, 1_000));
    await isAlive();
    body.data(Buffer.alloc(20_000, 98));
    await isAlive();
    expect(bytesOf(1)).to.equal(60_000);
    peer.send(windowOf(1, 59_000));
    await isAlive();
    expect(bytesOf(1)).to.equal(60_000);
    peer.send(windowOf(1, 7));
    await peer.when(() => (bytesOf(1) === 60_007 ? true : undefined));
    peer.send(setting(initialWindow, 31_000));
    body.end();
    await peer.when(() => (bytesOf(1) === 80_000 ? true : undefined));
  });

  it("views of the shared read memory are sent as they were when they were handed over, whether or not the window lets them leave", async () => {
    const shared = new ReadBuffer().next();
    const body = new FedBody();
    exchange(client, backend.port, { method: "POST", body });
    await accept(setting(initialWindow, 10));
    await body.whenStarted;
    for (const letter of "abc") {
      body.data(shared.subarray(0, 20_000).fill(letter));
      shared.fill("!");
    }
    body.end();
    await peer.when(() => (bytesOf(1) === 10 ? true : undefined));
    peer.send(windowOf(1, 59_990));
    await peer.when(() => (bytesOf(1) === 60_000 ? true : undefined));
    const sent = peer.frames.filter((f) => f.type === frameTypes.data && f.streamId === 1);
    expect(Buffer.concat(sent.map(({ payload }) => payload)).toString()).to.equal(
      ["a", "b", "c"].map((letter) => letter.repeat(20_000)).join(""),
    );
  });

  it("streams that are opened later have the window that the server has set by then", async () => {
    const bodies = [new FedBody(), new FedBody()] as const;
    exchange(client, backend.port, { method: "POST", body: bodies[0] });
    await accept(setting(initialWindow, 10));
    await bodies[0].whenStarted;
    bodies[0].data(Buffer.alloc(100));
    await peer.when(() => (bytesOf(1) === 10 ? true : undefined));
    peer.send(setting(initialWindow, 20));
    await peer.when(() => (bytesOf(1) === 20 ? true : undefined));
    exchange(client, backend.port, { method: "POST", body: bodies[1] });
    await bodies[1].whenStarted;
    bodies[1].data(Buffer.alloc(100));
    await peer.when(() => (bytesOf(3) === 20 ? true : undefined));
    await isAlive();
    expect([bytesOf(1), bytesOf(3)]).to.deep.equal([20, 20]);
  });

  it("a body that the window stops ends with END_STREAM once there is room, and a request without any at once", async () => {
    const body = new FedBody(30);
    exchange(client, backend.port, { method: "POST", body });
    await accept(setting(initialWindow, 10));
    await body.whenStarted;
    body.data(Buffer.alloc(30, 97));
    body.end(["X-Sum", "1"]);
    exchange(client, backend.port);
    expect((await requestOf(3)).flags & flags.endStream).to.equal(flags.endStream);
    peer.send(windowOf(1, 20));
    const last = await peer.frame((f) => f.streamId === 1 && (f.flags & flags.endStream) !== 0);
    expect(last.type).to.equal(frameTypes.headers);
    expect(last.payload.toString("latin1")).to.include("x-sum");
    expect(bytesOf(1)).to.equal(30);
  });

  it("a limit of streams that changes holds for the requests that come then", async () => {
    const sent = [exchange(client, backend.port)];
    await accept(setting(maxStreams, 2));
    await requestOf(1);
    peer.send(setting(maxStreams, 1));
    await isAlive();
    sent.push(exchange(client, backend.port));
    const second = await backend.accept();
    second.send(setting(maxStreams, 1));
    await second.ofType(frameTypes.headers);
    expect(peer.frames.filter(({ type }) => type === frameTypes.headers)).to.have.length(1);
    peer.send(setting(maxStreams, 3));
    await isAlive();
    for (let i = 0; i < 2; i++) sent.push(exchange(client, backend.port));
    await requestOf(5);
    expect(backend.sockets).to.have.length(2);
  });

  for (const size of [0, 65_536]) {
    it(`a table of ${size} octets is acknowledged in the next block, once`, async () => {
      const first = exchange(client, backend.port);
      await accept();
      await requestOf(1);
      peer.send(setting(tableSize, size), head(1, { end: true }));
      await first.settled;
      for (const id of [3, 5]) {
        const sent = exchange(client, backend.port);
        const { payload } = await requestOf(id);
        expect(payload[0] === 0x20).to.equal(id === 3);
        peer.send(head(id, { end: true }));
        await sent.settled;
      }
    });
  }

  it("with a socket that is full requests wait in order, and one that is given up is never sent", async () => {
    const count = 60;
    const first = exchange(client, backend.port);
    await accept();
    await requestOf(1);
    peer.socket.pause();
    // More than a socket takes.
    const headers = Array.from({ length: 3 }, () => ["x-a", "a".repeat(80_000)]).flat();
    const sent: Exchanged[] = [];
    for (let i = 0; i < count; i++) {
      sent.push(exchange(client, backend.port, { headers: Fields.of(headers) }));
      if (i % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
    }
    for (let i = count - 10; i < count; i += 2) sent[i]?.stream.abort();
    const late = exchange(client, backend.port);
    peer.socket.resume();
    const numbers = (): number[] =>
      peer.frames.filter(({ type }) => type === frameTypes.headers).map(({ streamId }) => streamId);
    const openings = (): number => numbers().length;
    await peer.when(() => (openings() === count - 5 + 2 ? true : undefined));
    expect(numbers()).to.deep.equal(numbers().toSorted((a, b) => a - b));
    await isAlive();
    expect(peer.frames.filter(({ type }) => type === frameTypes.rstStream)).to.have.length(0);
    for (const id of numbers()) peer.send(head(id, { end: true }));
    for (const one of [first, late, ...sent.slice(0, count - 10)])
      expect((await one.settled).ended).to.equal(true);
  });

  it("a request that waits for the socket of a connection goes over another one when that is lost", async () => {
    const first = exchange(client, backend.port);
    await accept();
    await requestOf(1);
    peer.socket.pause();
    const headers = Array.from({ length: 3 }, () => ["x-a", "a".repeat(80_000)]).flat();
    const sent = Array.from({ length: 60 }, () =>
      exchange(client, backend.port, { headers: Fields.of(headers), method: "POST" }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    peer.socket.resetAndDestroy();
    expect((await first.settled).error?.kind).to.equal("reset");
    const next = await backend.accept();
    next.send(settings);
    await next.ofType(frameTypes.headers);
    let seen = 0;
    const answer = (): void => {
      for (; seen < next.frames.length; seen++) {
        const { type, streamId } = next.frames[seen] ?? {};
        if (type === frameTypes.headers && streamId !== undefined) next.send(head(streamId, { end: true }));
      }
    };
    next.socket.on("data", answer);
    answer();
    await sent.at(-1)?.settled;
    expect(sent.at(-1)?.ended).to.equal(true);
  });

  it("after GOAWAY with an error, a request that the server may have processed is answered, or fails with its connection", async () => {
    for (const isAnswered of [true, false]) {
      const sent = exchange(client, backend.port, { method: "POST" });
      await accept();
      await requestOf(1);
      peer.send(goaway(1, 2));
      if (isAnswered) peer.send(head(1, { end: true }));
      else peer.socket.end();
      const { error } = await sent.settled;
      if (isAnswered) expect(error).to.equal(undefined);
      else
        expect(error).to.deep.equal({
          kind: "reset",
          text: "connection closed with GOAWAY",
          requestSent: true,
        });
    }
  });

  it("the first of two GOAWAYs refuses nothing, and the next request uses another connection", async () => {
    const sent = exchange(client, backend.port);
    await accept();
    await requestOf(1);
    peer.send(goaway(0x7fff_ffff, 0));
    await isAlive();
    const other = exchange(client, backend.port);
    const second = await backend.accept();
    second.send(settings);
    await second.ofType(frameTypes.headers);
    peer.send(goaway(1, 0), head(1), data(1, "last", flags.endStream));
    expect((await sent.settled).body).to.equal("last");
    second.send(head(1, { end: true }));
    expect((await other.settled).ended).to.equal(true);
    // The connection ends with its last stream.
    expect(await peer.goawayCode()).to.equal(0);
  });

  it("a response that is complete is handed over to its end when its connection ends meanwhile", async () => {
    const sent = exchange(client, backend.port);
    sent.full = true;
    await accept();
    await requestOf(1);
    peer.send(head(1), data(1, "one "), data(1, "two"), head(1, { fields: [["x-sum", "7"]], end: true }));
    await sent.when(() => sent.body !== "");
    await isAlive();
    peer.close();
    const other = exchange(client, backend.port);
    await backend.accept();
    sent.full = false;
    sent.stream.resume();
    const { body, trailers, error } = await sent.settled;
    expect([body, trailers, error]).to.deep.equal(["one two", ["x-sum", "7"], undefined]);
    other.stream.abort();
  });

  it("a request whose head cannot be sent fails, and the connection goes on", async () => {
    const first = exchange(client, backend.port);
    await accept();
    await requestOf(1);
    for (const bad of [
      { target: "/a b" },
      { target: "/\u010d\u010a" },
      { authority: "a\r\nb" },
      { method: "G T" },
    ]) {
      const { error } = await exchange(client, backend.port, bad).settled;
      expect(error?.text).to.equal("invalid request head");
    }
    const sent = exchange(client, backend.port, {
      headers: Fields.of(["X-\u010a", "1", "x-b", "\u010d\u010a", "x-c", "c"]),
    });
    const { payload } = await requestOf(3);
    expect(payload.includes(field("x-c", "c").subarray(1))).to.equal(true);
    expect(payload.includes("x-b")).to.equal(false);
    peer.send(head(1, { end: true }), head(3, { end: true }));
    expect([(await first.settled).ended, (await sent.settled).ended]).to.deep.equal([true, true]);
  });

  it("PING is answered, and SETTINGS are acknowledged", async () => {
    exchange(client, backend.port);
    await accept();
    await requestOf(1);
    peer.send(settings);
    await isAlive();
    expect(peer.frames.filter((f) => f.type === frameTypes.settings && f.flags === flags.ack)).to.have.length(
      2,
    );
  });
});
