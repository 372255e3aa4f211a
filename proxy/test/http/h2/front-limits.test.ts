import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { once } from "node:events";
import { expect } from "chai";
import { flags, frame, frameTypes, rawClient, RawPeer, requestBlock, requestFrame } from "./frames.ts";
import { answerOf, type FrontServer, get, openSession, reply, startFront, until } from "./support.ts";

describeHttp2Codecs("HTTP/2 front: limits", (codec) => {
  let server: FrontServer;
  afterEach(() => server.close());

  if (codec === "node")
    describe("of Node that are not reported", () => {
      const good = (id: number) => requestFrame(id, { end: true });
      /**
       * Returns a request with so many fields that Node resets its stream: each is field 16 of the static table, one
       * byte.
       */
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
      expect(server.events[0]).to.deep.include({
        reason: "uri-too-long",
        status: 414,
        bytesSent: refused.body.length,
      });
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

    it("a gRPC call with too many fields gets no body, and the event of the HTTP/2 front has none", async () => {
      server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
      const session = openSession(server.url);
      const fields = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, "1"]));
      const refused = await get(session, { "content-type": "application/grpc", ...fields });
      expect([refused.status, refused.headers["grpc-status"], refused.body]).to.deep.equal([200, "2", ""]);
      expect(server.events[0]).to.deep.include({ reason: "too-many-headers", status: 431, bytesSent: 0 });
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
      expect(server.requests[0]?.head.headers.toList()).to.deep.equal([
        "cookie",
        cookie.join("; "),
        "x-a",
        "1",
      ]);
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

  describe("of connections", () => {
    /** Waits for the GOAWAY that names the last stream: the only one of Node, or the second one of the native codec. */
    const lastGoaway = (peer: RawPeer) =>
      peer.when(() => {
        const goaways = peer.frames.filter(({ type }) => type === frameTypes.goaway);
        return goaways[codec === "node" ? 0 : 1];
      });
    /** Waits for the notice that the connection will end, and acknowledges the PING that arrives with it. */
    const isNoticed = async (peer: RawPeer): Promise<void> => {
      const notice = await peer.ofType(frameTypes.goaway);
      expect([notice.payload.readUInt32BE(0), notice.payload.readUInt32BE(4)]).to.deep.equal([0x7fffffff, 0]);
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
      // A request after the last stream is not processed, which the client knows from the GOAWAY.
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
      server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
      const peer = rawClient(server.port);
      peer.send(requestFrame(1, { end: true }));
      await peer.ofType(frameTypes.data);
      server.front.drain();
      expect(await peer.goawayCode()).to.equal(0);
    });

    it("a drain takes the first request of an HTTP/2 connection that has had none, before GOAWAY", async () => {
      server = await startFront(codec, (_connection, _head, client) => reply(client, "ok"));
      const peer = rawClient(server.port);
      await peer.ofType(frameTypes.settings);
      server.front.drain();
      peer.send(requestFrame(1, { end: true }));
      expect(await peer.goawayCode()).to.equal(0);
      const types = peer.frames.map(({ type }) => type);
      expect(types).to.include(frameTypes.data);
      expect(types.indexOf(frameTypes.goaway)).to.be.greaterThan(types.indexOf(frameTypes.settings));
    });

    it("a drain closes an HTTP/2 connection that has no request to send", async () => {
      server = await startFront(codec);
      const peer = rawClient(server.port);
      await peer.ofType(frameTypes.settings);
      server.front.drain();
      expect(await peer.goawayCode()).to.equal(0);
      expect(server.requests).to.have.length(0);
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
