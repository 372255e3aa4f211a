import { describeHttp2Codecs } from "../../http2-codecs.ts";
import type { ClientHttp2Session } from "node:http2";
import { connect as connectTcp } from "node:net";
import { expect } from "chai";
import { Fields } from "../../../src/message/fields.ts";
import type { ClientStream } from "../../../src/message/message.ts";
import { holdClock } from "../held-clock.ts";
import { flags, frame, frameTypes, preface, rawClient, RawPeer, requestFrame, uint32 } from "./frames.ts";
import {
  answerOf,
  type FrontServer,
  get,
  openSession,
  readBody,
  reply,
  startFront,
  streamingHead,
  until,
} from "./support.ts";

describeHttp2Codecs("HTTP/2 front: time limits", (codec) => {
  let server: FrontServer;
  afterEach(() => server.close());

  const clock = holdClock();
  /** Resolves when the server has handled everything that the client has sent. */
  const handled = (session: ClientHttp2Session): Promise<void> =>
    new Promise((resolve) => session.ping(() => resolve()));

  it("an HTTP/2 connection that sends no request is closed after the header timeout", async () => {
    server = await startFront(codec, undefined, { headerTimeoutMs: 40 });
    const silent = new RawPeer(connectTcp(server.port, "127.0.0.1"), { asServer: false });
    const partial = new RawPeer(connectTcp(server.port, "127.0.0.1"), { asServer: false });
    partial.send(preface.subarray(0, 10));
    const idle = rawClient(server.port);
    const slow = rawClient(server.port);
    for (const peer of [idle, slow]) {
      await peer.ofType(frameTypes.settings);
      // The answer to the PING shows that the acknowledgement has arrived before any time passes.
      peer.send(
        frame(frameTypes.settings, flags.ack, 0),
        frame(frameTypes.ping, 0, 0, Buffer.from("question")),
      );
      await peer.ofType(frameTypes.ping);
    }
    slow.send(requestFrame(1, { end: true }).subarray(0, 20));
    for (const peer of [silent, partial, idle, slow]) {
      const code = await clock.passing(peer.goawayCode());
      expect(code).to.equal(0);
      peer.close();
    }
    expect(new Set(server.events.map(({ reason }) => reason))).to.deep.equal(new Set(["header-timeout"]));
  });

  it("the idle timeout closes an HTTP/2 connection without streams, not one with a stream", async () => {
    server = await startFront(codec, undefined, { idleTimeoutMs: 40 });
    const session = openSession(server.url);
    let goaway = false;
    session.on("goaway", () => (goaway = true));
    const answer = get(session);
    const { client } = await server.next();
    const other = rawClient(server.port);
    other.send(requestFrame(1, { end: true }));
    reply((await server.next()).client, "ok");
    expect(await clock.passing(other.goawayCode())).to.equal(0);
    expect(goaway).to.equal(false);
    reply(client, "ok");
    expect((await answer).status).to.equal(200);
    await clock.passing(until(() => goaway && server.front.connections === 0));
  });

  it("an HTTP/2 request body that stops arriving is aborted, and the request can still be answered", async () => {
    server = await startFront(codec, undefined, { bodyTimeoutMs: 40 });
    const session = openSession(server.url);
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.write("part");
    const answer = answerOf(stream);
    const { client } = await server.next();
    const reading = readBody(client.body);
    await handled(session);
    const body = await clock.passing(reading);
    expect(body).to.deep.equal({ text: "part", trailers: undefined, aborted: "timeout" });
    client.sendHead({ status: 408, headers: Fields.of([]), length: 0, bodyless: false });
    client.end(undefined);
    const { status, rstCode } = await answer;
    expect(status).to.equal(408);
    expect(rstCode).to.equal(0);
    session.destroy();
  });

  it("the body timeout does not count the time while a body is not read, nor silence in gRPC", async () => {
    server = await startFront(codec, undefined, { bodyTimeoutMs: 40 });
    const session = openSession(server.url);
    const paused = session.request({ ":method": "POST", ":path": "/" });
    paused.write("part");
    const unread = session.request({ ":method": "POST", ":path": "/" });
    const grpc = session.request({ ":method": "POST", ":path": "/", "content-type": "application/grpc" });
    grpc.write("part");
    const streaming = session.request({ ":method": "POST", ":path": "/" });
    const aborts: string[] = [];
    const received = [await server.next(), await server.next(), await server.next(), await server.next()];
    received.forEach(({ client }, i) => {
      if (i === 1) return;
      client.body?.start({
        onData: () => i !== 0,
        onEnd: () => undefined,
        onAbort: (reason) => aborts.push(`${i} ${reason}`),
      });
    });
    received[3]?.client.sendHead(streamingHead());
    const control = session.request({ ":method": "POST", ":path": "/" });
    for (const stream of [paused, unread, grpc, streaming, control]) stream.on("error", () => undefined);
    const { aborted } = await clock.passing(readBody((await server.next()).client.body));
    expect(aborted).to.equal("timeout");
    expect(aborts).to.deep.equal([]);
    session.destroy();
    await until(() => aborts.length === 3);
  });

  /** Starts responses that stop for lack of a window; resolves when the client has received their heads. */
  const stall = async (peer: RawPeer, ids: readonly number[]): Promise<ClientStream[]> => {
    peer.send(...ids.map((id) => requestFrame(id, { end: true })));
    const clients: ClientStream[] = [];
    for (const id of ids) {
      const { client } = await server.next();
      client.sendHead(streamingHead());
      while (client.write(Buffer.alloc(16_384))) await new Promise((resolve) => setImmediate(resolve));
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === id);
      clients.push(client);
    }
    return clients;
  };
  const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);
  /** The second limit makes the front sweep more often; it does not apply, since all connections here have streams. */
  const slowReaders = { writeTimeoutMs: 60_000, idleTimeoutMs: 60 };

  for (const [what, drip] of [
    ["pings", frame(frameTypes.ping, 0, 0, Buffer.alloc(8))],
    ["sends SETTINGS", frame(frameTypes.settings, 0, 0)],
    ["opens its window byte by byte", frame(frameTypes.windowUpdate, 0, 1, uint32(1))],
  ] as const) {
    it(`a stream whose client reads nothing but ${what} is reset`, async () => {
      server = await startFront(codec, undefined, slowReaders);
      const peer = rawClient(server.port, noWindow);
      const [client] = (await stall(peer, [1])) as [ClientStream];
      const closed = new Promise<string>((resolve) => (client.onClose = resolve));
      let isOver = false;
      void closed.then(() => (isOver = true));
      // The limit of a minute starts with the first sweep that finds the stream stalled.
      for (let seconds = 0; seconds <= 62 && !isOver; seconds += 2) {
        if (seconds > 0) clock.advance(2000);
        const answers = peer.frames.length;
        peer.send(drip);
        await until(() => peer.frames.length > answers);
        await server.swept();
      }
      expect(await closed).to.equal("timeout");
      expect(await peer.resetCode(1)).to.equal(8);
      expect(server.events.map(({ reason }) => reason)).to.deep.equal(["write-timeout"]);
      peer.close();
    });
  }

  it("a slow client with many streams is tolerated, and so is a stream that has nothing to send", async () => {
    server = await startFront(codec, undefined, slowReaders);
    const peer = rawClient(server.port, noWindow);
    await stall(peer, [1, 3, 5, 7]);
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(100_000_000)));
    peer.send(requestFrame(9, { end: true }));
    const quiet = await server.next();
    quiet.client.sendHead(streamingHead());
    await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 9);
    for (let round = 0; round < 12; round++) {
      for (const id of [1, 3, 5, 7]) {
        const frames = peer.frames.length;
        peer.send(frame(frameTypes.windowUpdate, 0, id, uint32(4000)));
        await until(() => peer.frames.length > frames);
      }
      clock.advance(20_000);
      await server.swept();
    }
    expect(server.events).to.deep.equal([]);
    peer.close();
  });

  it("a stream whose data is not read is reset beside one whose data is read", async () => {
    server = await startFront(codec, undefined, slowReaders);
    const peer = rawClient(server.port, noWindow);
    const [stalled, busy] = (await stall(peer, [1, 3])) as [ClientStream, ClientStream];
    const closed = new Promise<string>((resolve) => (stalled.onClose = resolve));
    let isOver = false;
    void closed.then(() => (isOver = true));
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(100_000_000)));
    busy.onDrain = () => {
      while (busy.write(Buffer.alloc(16_384)));
    };
    while (!isOver) {
      const frames = peer.frames.length;
      peer.send(frame(frameTypes.windowUpdate, 0, 3, uint32(200_000)));
      await until(() => peer.frames.length >= frames + 12);
      clock.advance(5000);
      await server.swept();
    }
    expect(await closed).to.equal("timeout");
    expect(await peer.resetCode(1)).to.equal(8);
    expect(peer.frames.filter((f) => f.type === frameTypes.rstStream)).to.have.length(1);
    peer.close();
  });

  it("a stream whose client reads nothing is reset", async () => {
    server = await startFront(codec, undefined, { writeTimeoutMs: 40 });
    const peer = rawClient(server.port);
    peer.send(requestFrame(1, { end: true }), requestFrame(3, { end: true }));
    const { client } = await server.next();
    const other = await server.next();
    const closed = new Promise((resolve) => (client.onClose = resolve));
    client.sendHead(streamingHead());
    while (client.write(Buffer.alloc(16_384))) await new Promise((resolve) => setImmediate(resolve));
    expect(await clock.passing(closed)).to.equal("timeout");
    expect(await peer.resetCode(1)).to.equal(8);
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(1000)));
    reply(other.client, "alive");
    await peer.frame((f) => f.type === frameTypes.data && f.streamId === 3);
    peer.close();
  });
});
