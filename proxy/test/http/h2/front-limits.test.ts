import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect as connectTcp } from "node:net";
import { expect } from "chai";
import type { ClientStream } from "../../../src/message/message.ts";
import { holdClock } from "../held-clock.ts";
import {
  flags,
  frame,
  frameTypes,
  preface,
  rawClient,
  RawPeer,
  requestBlock,
  requestFrame,
  uint32,
} from "./frames.ts";
import {
  codecs,
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

for (const codec of codecs) {
  describe(`HTTP/2 front on the ${codec} codec: limits`, () => {
    let server: FrontServer;
    afterEach(() => server.close());

    if (codec === "node")
      describe("of Node that are not reported", () => {
        const good = (id: number) => requestFrame(id, { end: true });
        /** A request with so many fields that Node resets its stream: each one the field 16 of the static table, a byte. */
        const tooMany = (id: number): Buffer =>
          frame(
            frameTypes.headers,
            flags.endStream | flags.endHeaders,
            id,
            Buffer.concat([requestBlock("GET"), Buffer.alloc(4001, 0x90)]),
          );
        const unread = () => server.events.filter(({ reason }) => reason === "unread-request").length;
        const begin = async (limits = {}): Promise<RawPeer> => {
          server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"), limits);
          const peer = rawClient(server.port);
          await peer.ofType(frameTypes.settings);
          peer.send(frame(frameTypes.settings, flags.ack, 0));
          return peer;
        };

        it("an HTTP/2 request with more than 4000 fields is counted when the next request arrives", async () => {
          const peer = await begin();
          peer.send(good(1), tooMany(3));
          expect(await peer.resetCode(3)).to.equal(11);
          expect(unread()).to.equal(0);
          peer.send(good(5));
          await until(() => server.requests.length === 2);
          expect(unread()).to.equal(1);
          peer.close();
        });

        it("an HTTP/2 request that was never read is counted when its connection ends, and answered ones are not", async () => {
          const peer = await begin();
          peer.send(good(1));
          await until(() => server.requests.length === 1);
          peer.send(tooMany(3));
          expect(await peer.resetCode(3)).to.equal(11);
          server.front.drain();
          await until(() => unread() === 1);
          expect(await peer.goawayCode()).to.equal(0);
          expect(unread()).to.equal(1);
        });

        it("an HTTP/2 request that was never read is counted when its client disconnects at once", async () => {
          for (const leave of ["end", "resetAndDestroy"] as const) {
            const peer = await begin();
            peer.send(tooMany(1));
            await peer.resetCode(1);
            peer.socket[leave]();
            await until(() => unread() === 1);
            await server.close();
          }
        });
      });

    describe("of size", () => {
      it("an HTTP/2 request with a target over the limit gets 414 and the connection is kept", async () => {
        server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"), {
          maxUriBytes: 100,
        });
        const session = openSession(server.url);
        expect((await get(session, { ":path": `/${"a".repeat(99)}` })).status).to.equal(200);
        const refused = await get(session, { ":path": `/${"a".repeat(100)}` });
        expect(refused.status).to.equal(414);
        expect(refused.body).to.equal("414 URI Too Long\n");
        expect(refused.headers["cache-control"]).to.equal("no-store");
        expect((await get(session)).status).to.equal(200);
        expect(server.requests).to.have.length(2);
        expect(server.events).to.have.length(1);
        expect(server.events[0]).to.deep.include({ reason: "uri-too-long", status: 414 });
        session.destroy();
      });

      it("an HTTP/2 request with too many fields gets 431", async () => {
        server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
        const session = openSession(server.url);
        const fields = (count: number): Record<string, string> =>
          Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
        expect((await get(session, fields(100))).status).to.equal(200);
        expect((await get(session, fields(101))).status).to.equal(431);
        expect((await get(session, fields(500))).status).to.equal(431);
        expect((await get(session, fields(3000))).status).to.equal(431);
        const reasons = server.events.map(({ reason }) => reason);
        expect(reasons).to.deep.equal(["too-many-headers", "too-many-headers", "header-too-large"]);
        session.destroy();
      });

      it("an HTTP/2 request whose Content-Length is not an exact number gets 400", async () => {
        server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
        const session = openSession(server.url);
        const stream = session.request({
          ":method": "POST",
          ":path": "/",
          "content-length": "9007199254740993",
        });
        stream.write("a");
        expect((await answerOf(stream)).status).to.equal(400);
        expect((await get(session)).status).to.equal(200);
        expect(server.requests).to.have.length(1);
        expect(server.events[0]).to.deep.include({ reason: "malformed", status: 400 });
        session.destroy();
      });

      it("the pieces of a split Cookie count as one field and are joined", async () => {
        server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
        const session = openSession(server.url);
        const cookie = Array.from({ length: 120 }, (_, i) => `c${i}=1`);
        expect((await get(session, { cookie, "x-a": "1" })).status).to.equal(200);
        expect(server.requests[0]?.head.headers).to.deep.equal(["cookie", cookie.join("; "), "x-a", "1"]);
        session.destroy();
      });

      it("a header list over the limit gets 431, or a grpc-status in gRPC", async () => {
        server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"), {
          maxHeaderBytes: 8192,
        });
        const session = openSession(server.url);
        expect((await get(session, { "x-a": "a".repeat(7000) })).status).to.equal(200);
        expect((await get(session, { "x-a": "a".repeat(9000) })).status).to.equal(431);
        expect((await get(session, { "x-a": "a".repeat(60_000) })).status).to.equal(431);
        const call = await get(session, {
          ":method": "GET",
          "content-type": "application/grpc",
          "x-a": "a".repeat(9000),
        });
        expect(call.headers).to.deep.include({ ":status": 200, "grpc-status": "2" });
        expect((await get(session)).status).to.equal(200);
        session.destroy();
      });

      it("a request with a header list over the limit gets 431 although its body is not read", async () => {
        server = await startFront(codec, undefined, { maxHeaderBytes: 8192 });
        const session = openSession(server.url);
        const stream = session.request({ ":method": "POST", ":path": "/", "x-a": "a".repeat(9000) });
        stream.write(Buffer.alloc(200_000));
        const answer = await answerOf(stream);
        expect(answer.status).to.equal(431);
        expect(answer.rstCode).to.equal(0);
        session.destroy();
      });

      it("a header block that is far over the limit and not valid HPACK ends the connection", async () => {
        server = await startFront(codec);
        const peer = rawClient(server.port);
        const block = Buffer.concat([
          requestFrame(1, { end: true }).subarray(9),
          Buffer.from([0, 1, 0x61, 0x7f, 0xf1, 0x9f, 0x04]),
          Buffer.alloc(70_000, 0x61),
        ]);
        const frames: Buffer[] = [];
        for (let at = 0; at < block.length; at += 16_384) {
          const last = at + 16_384 >= block.length;
          const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
          frames.push(frame(type, last ? 4 : 0, 1, block.subarray(at, at + 16_384)));
        }
        peer.send(...frames);
        expect(await peer.goawayCode()).to.equal(9);
        expect(server.requests).to.have.length(0);
      });
    });

    describe("of time", () => {
      const clock = holdClock();
      /** The limits have been looked at. */
      const swept = async (): Promise<void> => {
        const before = clock.looks();
        await until(() => clock.looks() > before);
      };
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
        client.sendHead({ status: 408, headers: [], length: 0, bodyless: false });
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

      /** A response of two streams that cannot go on for want of a window; resolves when the client has had the first data. */
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
      /** The second limit has the front look at the clock more often; no connection here is without streams. */
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
          // Every two seconds of the clock, looked at by at least one sweep each.
          for (let seconds = 0; seconds <= 62 && !isOver; seconds += 2) {
            const answers = peer.frames.length;
            peer.send(drip);
            await until(() => peer.frames.length > answers);
            clock.advance(2000);
            if (seconds % 20 === 0 || seconds >= 58) await swept();
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
          await swept();
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
          await swept();
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

    describe("of connections", () => {
      /** The last stream is named by the only GOAWAY of Node, and by the second one of the native codec. */
      const lastGoaway = (peer: RawPeer) =>
        peer.when(() => {
          const goaways = peer.frames.filter(({ type }) => type === frameTypes.goaway);
          return goaways[codec === "node" ? 0 : 1];
        });
      /** Takes the notice that the connection will end, and acknowledges the PING that came with it. */
      const isNoticed = async (peer: RawPeer): Promise<void> => {
        const notice = await peer.ofType(frameTypes.goaway);
        expect([notice.payload.readUInt32BE(0), notice.payload.readUInt32BE(4)]).to.deep.equal([
          0x7fffffff, 0,
        ]);
        const { payload } = await peer.ofType(frameTypes.ping);
        peer.send(frame(frameTypes.ping, flags.ack, 0, payload));
      };

      it("the last allowed request of an HTTP/2 connection gets GOAWAY, and requests under way are served", async () => {
        server = await startFront(codec, undefined, { maxRequestsPerConnection: 2 });
        const peer = rawClient(server.port);
        peer.send(requestFrame(1, { end: true }), requestFrame(3, { end: true }));
        const first = await server.next();
        const second = await server.next();
        if (codec === "native") await isNoticed(peer);
        const goaway = await lastGoaway(peer);
        expect(goaway.payload.readUInt32BE(0)).to.equal(3);
        expect(goaway.payload.readUInt32BE(4)).to.equal(0);
        // Beyond the last stream: not processed, and the client knows.
        peer.send(requestFrame(5, { end: true }));
        for (const { client } of [first, second]) reply(client, "ok");
        expect(await peer.goawayCode()).to.equal(0);
        expect(peer.frames.filter((f) => f.type === frameTypes.data)).to.have.length(2);
        expect(server.requests).to.have.length(2);
      });

      it("a drain finishes HTTP/2 requests in flight, closes idle connections, and new connections get GOAWAY", async () => {
        server = await startFront(codec);
        const busy = openSession(server.url);
        const idle = openSession(server.url);
        await once(idle, "remoteSettings");
        const answer = get(busy);
        const { client } = await server.next();
        server.front.drain();
        await once(idle, "close");
        const late = openSession(server.url);
        const lateAnswer = get(late);
        reply((await server.next()).client, "late");
        expect((await lateAnswer).body).to.equal("late");
        await once(late, "close");
        reply(client, "done");
        expect((await answer).body).to.equal("done");
        await until(() => server.front.connections === 0);
      });

      it("all HTTP/2 requests that arrive together are served before GOAWAY names the last one", async () => {
        server = await startFront(codec, (_connection, _head, client) =>
          setImmediate(() => reply(client, "ok")),
        );
        server.front.drain();
        const peer = rawClient(server.port);
        peer.send(...[1, 3, 5].map((id) => requestFrame(id, { end: true })));
        if (codec === "native") await isNoticed(peer);
        expect(await peer.goawayCode()).to.equal(0);
        const goaway = await lastGoaway(peer);
        expect(goaway.payload.readUInt32BE(0)).to.equal(5);
        expect(peer.frames.filter((f) => f.type === frameTypes.data)).to.have.length(3);
      });

      it("a drain closes an idle HTTP/2 connection at once", async () => {
        server = await startFront(codec);
        const peer = rawClient(server.port);
        await peer.ofType(frameTypes.settings);
        server.front.drain();
        expect(await peer.goawayCode()).to.equal(0);
      });

      it("the HTTP/2 front counts the requests that it cuts when it is destroyed", async () => {
        server = await startFront(codec);
        const session = openSession(server.url);
        const [one, two] = [get(session), get(session)];
        const first = await server.next();
        const second = await server.next();
        reply(second.client, "ok");
        await two;
        const closed = new Promise((resolve) => (first.client.onClose = resolve));
        expect(server.front.connections).to.equal(1);
        expect(server.front.destroy()).to.equal(1);
        expect(await closed).to.equal("shutdown");
        expect((await one).complete).to.equal(false);
        await until(() => server.front.connections === 0);
      });
    });
  });
}
