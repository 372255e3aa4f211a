import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { expect } from "chai";
import { holdClock } from "../held-clock.ts";
import { field, flags, frame, frameTypes, requestBlock, requestFrame, uint32 } from "./frames.ts";
import { postFrame, usePeerOnFront } from "./peer-on-front.ts";
import { readBody, type Received, reply, until } from "./support.ts";
import { Fields } from "../../../src/message/fields.ts";

const refusedStream = 7;
const enhanceYourCalm = 11;

const times = <Value>(count: number, build: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => build(index));

describeHttp2Codecs("HTTP/2 front: hostile clients", (codec) => {
  // Floods are counted over a window of some seconds, which must not end in the middle of a flood.
  const clock = holdClock();

  // Limits are checked four times within the shortest one. No connection here is idle while time passes.
  const front = usePeerOnFront(codec, { idleTimeoutMs: 2000 });

  const ping = frame(frameTypes.ping, 0, 0, Buffer.alloc(8));
  const pingAck = frame(frameTypes.ping, flags.ack, 0, Buffer.alloc(8));
  const malformedFrame = (id: number): Buffer => requestFrame(id, { end: true, fields: [["Upper", "x"]] });

  /** Waits until the limits have been checked. */
  const isSwept = async (): Promise<void> => {
    await front.server.swept();
    await front.isAlive();
  };

  describe("floods end with ENHANCE_YOUR_CALM", () => {
    const floods: Record<string, () => Buffer[]> = {
      PING: () => times(1100, () => ping),
      "unsolicited PING acknowledgements": () => times(1100, () => pingAck),
      "PING acknowledgements and PING together": () => times(550, () => Buffer.concat([ping, pingAck])),
      SETTINGS: () => times(1100, () => frame(frameTypes.settings, 0, 0)),
      WINDOW_UPDATE: () => times(1500, () => frame(frameTypes.windowUpdate, 0, 0, uint32(1))),
      PRIORITY: () => [
        postFrame(1),
        ...times(1500, () => frame(frameTypes.priority, 0, 1, Buffer.from([0, 0, 0, 0, 1]))),
      ],
      "unknown frames": () => times(2000, () => frame(0x42, 0, 0)),
      "unsolicited PING acknowledgements and unknown frames together": () => [
        ...times(900, () => pingAck),
        ...times(900, () => frame(0x42, 0, 0)),
      ],
      "empty DATA": () => [postFrame(1), ...times(110, () => frame(frameTypes.data, 0, 1))],
      ...(codec === "native" && {
        "unsolicited SETTINGS acknowledgements": () =>
          times(1100, () => frame(frameTypes.settings, flags.ack, 0)),
        "empty DATA on two streams in turn": () => [
          postFrame(1),
          postFrame(3),
          ...times(110, (i) => frame(frameTypes.data, 0, i % 2 === 0 ? 1 : 3)),
        ],
        "END_STREAM on a stream that was closed long ago": () => [
          ...times(70, (i) => requestFrame(2 * i + 1, { end: true })),
          ...times(70, (i) => frame(frameTypes.rstStream, 0, 2 * i + 1, uint32(8))),
          ...times(2000, () => frame(frameTypes.data, flags.endStream, 1)),
        ],
      }),
      "reset streams": () =>
        times(210, (i) =>
          Buffer.concat([
            requestFrame(2 * i + 1, { end: true }),
            frame(frameTypes.rstStream, 0, 2 * i + 1, uint32(8)),
          ]),
        ),
      "9 CONTINUATION frames in one block": () => [
        frame(frameTypes.headers, flags.endStream, 1, requestBlock("GET")),
        ...times(8, () => frame(frameTypes.continuation, 0, 1, field("a", "b"))),
        frame(frameTypes.continuation, flags.endHeaders, 1, field("a", "b")),
      ],
      "malformed requests": () => times(210, (i) => malformedFrame(2 * i + 1)),
    };
    for (const [name, build] of Object.entries(floods)) {
      it(`a flood of ${name} ends the connection with ENHANCE_YOUR_CALM`, async () => {
        front.peer.send(...build());
        expect(await front.peer.goawayCode()).to.equal(enhanceYourCalm);
        // Node reports nothing about malformed requests.
        const reasons = front.server.events
          .map(({ reason }) => reason)
          .filter((reason) => reason !== "malformed");
        expect(reasons).to.have.length(1);
        expect(reasons[0]).to.match(/^(reset|control|frame)-flood$/);
        if (codec === "node") expect(front.server.events).to.have.length(1);
      });
    }

    it("a flood of faults that make the proxy reset streams ends the connection with ENHANCE_YOUR_CALM", async () => {
      front.server.requests.length = 0;
      for (let i = 0; i < 210; i++) {
        front.peer.send(
          postFrame(2 * i + 1, [["content-length", "1"]]),
          frame(frameTypes.data, 0, 2 * i + 1, Buffer.alloc(2)),
        );
      }
      expect(await front.peer.goawayCode()).to.equal(enhanceYourCalm);
    });
  });

  describe("what stays below the limits is served", () => {
    it("frames of every kind below the limits are tolerated", async () => {
      front.peer.send(
        ...times(300, () => ping),
        ...times(300, () => frame(frameTypes.settings, 0, 0)),
        ...times(100, () => frame(frameTypes.windowUpdate, 0, 0, uint32(1))),
        ...times(100, (i) =>
          Buffer.concat([
            requestFrame(2 * i + 1, { end: true }),
            frame(frameTypes.rstStream, 0, 2 * i + 1, uint32(8)),
          ]),
        ),
        frame(frameTypes.headers, flags.endStream, 201, requestBlock("GET")),
        ...times(7, () => frame(frameTypes.continuation, 0, 201, field("a", "b"))),
        frame(frameTypes.continuation, flags.endHeaders, 201, field("a", "b")),
      );
      await front.isAlive();
      expect(front.server.events).to.deep.equal([]);
      expect(front.server.requests.at(-1)?.head.headers.toList()).to.have.length(16);
    });

    it("unsolicited PING acknowledgements below the limit are tolerated, one by one and many together", async () => {
      for (const count of [1, 1, 100]) {
        front.peer.send(...times(count, () => pingAck));
        await front.isAlive();
      }
      front.peer.send(requestFrame(1, { end: true }));
      reply((await front.server.next()).client, "ok");
      await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 1);
      expect(front.server.events).to.deep.equal([]);
    });

    it("a large frame of an unknown type is tolerated, and so are trailers as large as a header list may be", async () => {
      front.peer.send(frame(0x42, 0, 0, Buffer.alloc(16_384)), postFrame(1));
      const body = readBody((await front.server.next()).client.body);
      const trailers = Buffer.concat(times(12, (i) => field(`x-${i}`, "v".repeat(1300))));
      front.peer.send(frame(frameTypes.headers, flags.endHeaders | flags.endStream, 1, trailers));
      expect((await body).trailers).to.have.length(24);
      await isSwept();
      expect(front.server.events).to.deep.equal([]);
    });

    const padded = (streamId: number, bits: number): Buffer =>
      frame(
        frameTypes.data,
        flags.padded | bits,
        streamId,
        Buffer.concat([Buffer.of(255, 0x78), Buffer.alloc(255)]),
      );

    it("an upload with 255 bytes of padding in each frame is served, read at once and after a while", async () => {
      const count = 2000;
      for (const [turn, id] of [1, 3].entries()) {
        front.peer.send(postFrame(id), ...times(count - 1, () => padded(id, 0)), padded(id, flags.endStream));
        const { client } = await front.server.next();
        if (turn === 1) await front.isAlive();
        await isSwept();
        expect((await readBody(client.body)).text).to.have.length(count);
        reply(client, "ok");
        await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === id);
      }
      await isSwept();
      expect(front.server.events).to.deep.equal([]);
    });

    it("a client that cancels some of very many requests is served", async () => {
      for (let i = 0; i < 3600; i += 20) {
        const id = (n: number): number => 2 * (i + n) + 1;
        front.peer.send(...times(20, (n) => requestFrame(id(n), { end: true })));
        front.peer.send(...times(8, (n) => frame(frameTypes.rstStream, 0, id(n), uint32(8))));
        await front.isAlive();
        for (const { client } of front.server.requests.splice(0).slice(8)) reply(client, "ok");
      }
      await front.isAlive();
      expect(front.server.events).to.deep.equal([]);
    });

    it("a request that replaces one cancelled in the same packet is served with 100 streams open", async () => {
      front.peer.send(...times(100, (i) => requestFrame(2 * i + 1, { end: true })));
      await front.isAlive();
      for (let i = 0; i < 150; i++) {
        const id = 2 * (100 + i) + 1;
        front.peer.send(frame(frameTypes.rstStream, 0, id - 2, uint32(8)), requestFrame(id, { end: true }));
      }
      await until(() => front.server.requests.length === 250);
      await front.isAlive();
      expect(front.peer.frames.filter(({ type }) => type === frameTypes.rstStream)).to.deep.equal([]);
      expect(front.server.events).to.deep.equal([]);
    });

    it("a client that replaces requests in one packet is tolerated, although Node refuses some of them", async () => {
      front.peer.send(frame(frameTypes.settings, flags.ack, 0));
      front.peer.send(...times(100, (i) => requestFrame(2 * i + 1, { end: true })));
      await front.isAlive();
      let last = 199;
      for (let round = 0; round < 130; round++) {
        const from = last;
        last += 2 * 60;
        front.peer.send(
          ...times(60, (i) =>
            Buffer.concat([
              frame(frameTypes.rstStream, 0, from + 2 * i, uint32(8)),
              requestFrame(from + 2 * i + 2, { end: true }),
            ]),
          ),
        );
        await front.isAlive();
        clock.advance(11_000);
      }
      await front.isAlive();
      expect(front.peer.frames.filter(({ type }) => type === frameTypes.goaway)).to.deep.equal([]);
    });

    it("a large upload in small frames is served", async () => {
      const size = 20_000;
      front.peer.send(postFrame(1));
      const { client } = await front.server.next();
      let received = 0;
      const done = new Promise((resolve) => {
        client.body?.start({
          onData: (chunk) => ((received += chunk.length), true),
          onEnd: resolve,
          onAbort: resolve,
        });
      });
      front.peer.send(
        ...times(size, () => frame(frameTypes.data, 0, 1, Buffer.from("x"))),
        frame(frameTypes.data, flags.endStream, 1),
      );
      await done;
      expect(received).to.equal(size);
      await front.isAlive();
      expect(front.server.events).to.deep.equal([]);
    });

    it("PING frames in answer to data are tolerated", async () => {
      front.peer.send(requestFrame(1, { end: true }));
      const { client } = await front.server.next();
      client.sendHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
      for (let i = 0; i < 1500; i++) {
        client.write("x");
        front.peer.send(ping);
        if (i % 100 === 99) await front.isAlive();
      }
      await front.isAlive();
      expect(front.server.events).to.deep.equal([]);
    });
  });

  describe("GOAWAY for a client that resets too many streams", () => {
    const resets = (first: number, count: number): Buffer[] =>
      times(count, (i) =>
        Buffer.concat([
          requestFrame(first + 2 * i, { end: true }),
          frame(frameTypes.rstStream, 0, first + 2 * i, uint32(8)),
        ]),
      );
    const begin = async (): Promise<Received> => {
      front.peer.send(requestFrame(1, { end: true }));
      const underWay = await front.server.next();
      front.peer.send(...resets(3, 201));
      expect((await front.peer.ofType(frameTypes.goaway)).payload.readUInt32BE(4)).to.equal(enhanceYourCalm);
      return underWay;
    };

    it("a client that resets too many streams can finish the request under way, and start no other", async () => {
      const { client } = await begin();
      const { length } = front.server.requests;
      front.peer.send(requestFrame(1001, { end: true }));
      await front.isAlive();
      expect(front.server.requests).to.have.length(length);
      reply(client, "late");
      expect(
        (await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 1)).payload.toString(),
      ).to.equal("late");
      expect(await front.peer.goawayCode()).to.equal(enhanceYourCalm);
      expect(front.server.events.map(({ reason }) => reason)).to.deep.equal(["reset-flood"]);
    });

    it("a client that resets too many streams is disconnected after five seconds at most", async () => {
      const { client } = await begin();
      const closed = new Promise((resolve) => (client.onClose = resolve));
      clock.advance(4999);
      await isSwept();
      expect(client.headSent).to.equal(false);
      clock.advance(1);
      expect(await closed).to.equal("client-closed");
      expect(await front.peer.goawayCode()).to.equal(enhanceYourCalm);
    });

    it("a client that continues to flood after too many resets is disconnected at once", async () => {
      await begin();
      front.peer.send(...times(1100, () => ping));
      expect(await front.peer.goawayCode()).to.equal(enhanceYourCalm);
    });
  });

  if (codec === "native") {
    it("a client that opens far more than 100 streams at a time is treated as a flood", async () => {
      front.peer.send(frame(frameTypes.settings, flags.ack, 0));
      front.peer.send(...times(310, (i) => requestFrame(2 * i + 1, { end: true })));
      expect((await front.peer.ofType(frameTypes.goaway)).payload.readUInt32BE(4)).to.equal(enhanceYourCalm);
      expect(front.server.events.map(({ reason }) => reason)).to.deep.equal(["reset-flood"]);
      expect(front.server.requests).to.have.length(100);
    });

    it("empty DATA frames that are not in a row are tolerated, on one stream and on many", async () => {
      front.peer.send(postFrame(1));
      const body = readBody((await front.server.next()).client.body);
      front.peer.send(
        ...times(150, () =>
          Buffer.concat([frame(frameTypes.data, 0, 1, Buffer.from("x")), frame(frameTypes.data, 0, 1)]),
        ),
        frame(frameTypes.data, flags.endStream, 1),
      );
      expect((await body).text).to.have.length(150);
      const ends = [
        frame(frameTypes.data, flags.endStream, 3),
        frame(frameTypes.headers, flags.endHeaders | flags.endStream, 5, field("a", "b")),
        frame(frameTypes.data, flags.endStream, 7),
      ];
      for (const [turn, end] of ends.entries()) {
        const id = 2 * turn + 3;
        front.peer.send(postFrame(id), ...times(90, () => frame(frameTypes.data, 0, id)), end);
      }
      await front.isAlive();
      expect(front.server.events).to.deep.equal([]);
    });

    it("a client with many malformed requests among more others is served", async () => {
      let id = -1;
      for (let round = 0; round < 5; round++) {
        front.peer.send(
          ...times(60, () => requestFrame((id += 2), { end: true })),
          ...times(50, () => malformedFrame((id += 2))),
        );
        await until(() => front.server.requests.length === 60);
        for (const { client } of front.server.requests.splice(0)) reply(client, "ok");
      }
      await front.isAlive();
      const reasons = front.server.events.map(({ reason }) => reason);
      expect(reasons).to.deep.equal(times(250, () => "malformed"));
    });

    it("a client with too many malformed requests can finish those under way", async () => {
      front.peer.send(requestFrame(1, { end: true }));
      const { client } = await front.server.next();
      front.peer.send(...times(201, (i) => malformedFrame(2 * i + 3)));
      expect((await front.peer.ofType(frameTypes.goaway)).payload.readUInt32BE(4)).to.equal(enhanceYourCalm);
      reply(client, "late");
      await front.peer.frame((f) => f.type === frameTypes.data && f.streamId === 1);
      expect(front.server.events.at(-1)?.reason).to.equal("reset-flood");
    });
  }

  it("a stream beyond 100 at a time is refused", async () => {
    front.peer.send(...times(101, (i) => postFrame(2 * i + 1)));
    expect(await front.peer.resetCode(201)).to.equal(refusedStream);
    expect(front.server.requests).to.have.length(100);
    const settings = await front.peer.ofType(frameTypes.settings);
    const values = new Map<number, number>();
    for (let at = 0; at < settings.payload.length; at += 6) {
      values.set(settings.payload.readUInt16BE(at), settings.payload.readUInt32BE(at + 2));
    }
    expect(values.get(3)).to.equal(100);
    expect(values.get(4)).to.equal(65_536);
    expect(values.get(8) ?? 0).to.equal(codec === "native" ? 1 : 0);
    const window = await front.peer.ofType(frameTypes.windowUpdate);
    expect(window.streamId).to.equal(0);
    expect(65_535 + window.payload.readUInt32BE(0)).to.equal(1_048_576);
  });
});
