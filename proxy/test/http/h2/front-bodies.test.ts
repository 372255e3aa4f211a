import { describeHttp2Codecs } from "../../http2-codecs.ts";
import type { ClientHttp2Session } from "node:http2";
import { expect } from "chai";
import { connectionWindowBytes } from "../../../src/http2/settings.ts";
import { eventually } from "../h1/harness.ts";
import { frame, frameTypes, rawClient, requestFrame, uint32 } from "./frames.ts";
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

const text = (value: string): Buffer => Buffer.from(value, "latin1");

const post = { ":method": "POST", ":path": "/" } as const;

describeHttp2Codecs("HTTP/2 front: bodies", (codec) => {
  let server: FrontServer;
  let session: ClientHttp2Session;

  beforeEach(async () => {
    server = await startFront(codec);
    session = openSession(server.url);
  });
  afterEach(async () => {
    session.destroy();
    await server.close();
  });

  it("a request body is delivered with its declared length and its end", async () => {
    const stream = session.request({ ...post, "content-length": "5" });
    stream.end("hello");
    const answer = answerOf(stream);
    const { client } = await server.next();
    expect(client.body?.length).to.equal(5);
    expect(client.body?.started).to.equal(false);
    const body = await readBody(client.body);
    expect(client.body?.started).to.equal(true);
    expect(body).to.deep.equal({ text: "hello", trailers: undefined, aborted: undefined });
    reply(client, "ok");
    expect((await answer).body).to.equal("ok");
  });

  it("the trailers of a request are delivered", async () => {
    const stream = session.request(post, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.end("hello");
    const answer = answerOf(stream);
    const { client } = await server.next();
    expect(client.body?.length).to.equal(undefined);
    const body = await readBody(client.body);
    expect(body.text).to.equal("hello");
    expect(body.trailers).to.deep.equal(["x-sum", "1"]);
    reply(client, "");
    await answer;
  });

  it("bodies that have come and are answered unread leave the window of the connection open", async () => {
    const bytes = 60_000;
    const batch = 50;
    const isLarge = { ...post, "content-length": String(bytes) };
    for (let sent = 0; sent < 2 * connectionWindowBytes; sent += batch * bytes) {
      const answers = Array.from({ length: batch }, () => {
        const stream = session.request(isLarge);
        stream.end(Buffer.alloc(bytes, 97));
        return answerOf(stream);
      });
      const unread = [];
      for (let i = 0; i < batch; i++) unread.push((await server.next()).client);
      // Everything sent before this request has arrived.
      const other = get(session);
      reply((await server.next()).client, "");
      await other;
      for (const client of unread) reply(client, "");
      await Promise.all(answers);
    }
    const stream = session.request(isLarge);
    stream.end(Buffer.alloc(bytes, 97));
    const { client } = await server.next();
    expect((await readBody(client.body)).text.length).to.equal(bytes);
    reply(client, "");
  });

  it("no more than the window of the stream is received before the body is started", async () => {
    const stream = session.request(post);
    const answer = answerOf(stream);
    const size = 1_000_000;
    stream.end(Buffer.alloc(size, 97));
    const { client } = await server.next();
    // A round trip on the same connection, after which all data that can be sent has been sent.
    for (let i = 0; i < 3; i++) {
      const other = get(session);
      reply((await server.next()).client, "");
      await other;
    }
    expect(stream.bufferSize).to.be.greaterThan(0);
    const body = await readBody(client.body);
    expect(body.text.length).to.equal(size);
    reply(client, "");
    await answer;
  });

  it("a request body pauses when the sink is full and continues after resume", async () => {
    const stream = session.request(post);
    const answer = answerOf(stream);
    const size = 600_000;
    stream.end(Buffer.alloc(size, 97));
    const { client } = await server.next();
    let received = 0;
    let paused = false;
    let ended = false;
    client.body?.start({
      onData(chunk) {
        expect(paused).to.equal(false);
        received += chunk.length;
        paused = true;
        return false;
      },
      onEnd: () => (ended = true),
      onAbort: () => undefined,
    });
    while (!ended) {
      await until(() => paused || ended);
      paused = false;
      client.body?.resume();
    }
    expect(received).to.equal(size);
    reply(client, "");
    await answer;
  });

  for (const code of [8, 0]) {
    it(`a client that resets its request with code ${code} is reported to the sink and the exchange`, async () => {
      const peer = rawClient(server.port);
      peer.send(requestFrame(1, { end: false, method: "POST" }), frame(frameTypes.data, 0, 1, text("part")));
      const { client } = await server.next();
      const closed = new Promise((resolve) => (client.onClose = resolve));
      const body = readBody(client.body);
      peer.send(frame(frameTypes.rstStream, 0, 1, uint32(code)));
      expect(await body).to.deep.equal({ text: "part", trailers: undefined, aborted: "client-closed" });
      expect(await closed).to.equal("client-closed");
      peer.close();
    });
  }

  it("the exchange of a client that leaves ends before the body, so that no fault of the body is logged", async () => {
    const peer = rawClient(server.port);
    peer.send(requestFrame(1, { end: false, method: "POST" }), frame(frameTypes.data, 0, 1, text("part")));
    const { client } = await server.next();
    const order: string[] = [];
    client.onClose = () => order.push("exchange");
    const received = Promise.withResolvers<void>();
    client.body?.start({
      onData: () => {
        received.resolve();
        return true;
      },
      onEnd: () => order.push("end"),
      onAbort: () => order.push("body"),
    });
    await received.promise;
    peer.close();
    await eventually(() => order.length === 2);
    expect(order).to.deep.equal(["exchange", "body"]);
  });

  it("a request body that is started after the client has reset the stream is aborted", async () => {
    const peer = rawClient(server.port);
    peer.send(requestFrame(1, { end: false, method: "POST" }), frame(frameTypes.data, 0, 1, text("part")));
    const { client } = await server.next();
    const closed = new Promise((resolve) => (client.onClose = resolve));
    peer.send(frame(frameTypes.rstStream, 0, 1, uint32(8)));
    await closed;
    expect((await readBody(client.body)).aborted).to.equal("client-closed");
    peer.close();
  });

  it("a broken connection is reported to every open request", async () => {
    const streams = [session.request(post), session.request({ ":path": "/" })];
    for (const stream of streams) stream.on("error", () => undefined);
    const closes: string[] = [];
    for (const { client } of [await server.next(), await server.next()]) {
      client.onClose = (reason) => closes.push(reason);
    }
    session.destroy();
    await until(() => closes.length === 2);
    expect(closes).to.deep.equal(["client-closed", "client-closed"]);
    await until(() => server.front.connections === 0);
  });

  for (const started of [false, true]) {
    it(`an early response ends and releases the ${started ? "half-read" : "unread"} request`, async () => {
      const stream = session.request(post);
      const answer = answerOf(stream);
      stream.write(Buffer.alloc(300_000));
      const { client } = await server.next();
      let aborted: string | undefined;
      if (started) {
        client.body?.start({
          onData: () => false,
          onEnd: () => undefined,
          onAbort: (reason) => (aborted = reason),
        });
        await until(() => stream.bufferSize > 0);
      }
      reply(client, "early");
      const { body, rstCode, complete } = await answer;
      expect(body).to.equal("early");
      expect(complete).to.equal(true);
      expect(rstCode).to.equal(0);
      if (started) expect(aborted).to.equal("client-closed");
    });
  }

  it("an early streamed response with trailers ends and releases the request", async () => {
    const stream = session.request(post);
    const answer = answerOf(stream);
    stream.write(Buffer.alloc(300_000));
    const { client } = await server.next();
    client.sendHead(streamingHead());
    client.write("a");
    await new Promise((resolve) => setImmediate(resolve));
    client.write("b");
    client.end(["grpc-status", "8"]);
    const { body, trailers, rstCode } = await answer;
    expect(body).to.equal("ab");
    expect(trailers).to.deep.include({ "grpc-status": "8" });
    expect(rstCode).to.equal(0);
  });

  it("a response to a client that does not read is paused, and resumes when the client reads", async () => {
    const stream = session.request({ ":path": "/" });
    stream.pause();
    const { client } = await server.next();
    client.sendHead(streamingHead());
    const chunk = Buffer.alloc(16_384, 98);
    const total = 4_000_000;
    let sent = 0;
    let stops = 0;
    let maxAhead = 0;
    let received = 0;
    const pump = (): void => {
      while (sent < total) {
        sent += chunk.length;
        const more = client.write(chunk);
        maxAhead = Math.max(maxAhead, sent - received);
        if (!more) {
          stops++;
          return;
        }
      }
      client.end(undefined);
    };
    client.onDrain = pump;
    await new Promise((resolve) => setImmediate(resolve));
    pump();
    expect(stops).to.equal(1);
    expect(sent).to.be.at.most(256 * 1024);
    stream.on("data", (data: Buffer) => (received += data.length));
    stream.resume();
    await new Promise((resolve) => stream.once("end", resolve));
    expect(received).to.equal(sent);
    expect(stops).to.be.greaterThan(5);
  });
});
