import { expect } from "chai";
import { BlockEncoder } from "../../http2/hpack/block.ts";
import { holdClock } from "../held-clock.ts";
import {
  field,
  flags,
  frame,
  frameTypes,
  type RawPeer,
  rawClient,
  requestBlock,
  requestFrame,
  uint32,
} from "./frames.ts";
import { type FrontServer, readBody, reply, startFront, streamingHead, until } from "./support.ts";
import { Fields } from "../../../src/message/fields.ts";

const protocolError = 1;
const flowControlError = 3;
const settingsTimeout = 4;
const enhanceYourCalm = 11;

const times = (count: number, build: (index: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, index) => build(index));

describe("the native codec of HTTP/2", () => {
  const clock = holdClock();
  let server: FrontServer;
  let peer: RawPeer;

  const start = async (
    ...given: Parameters<typeof startFront> extends [unknown, ...infer Rest] ? Rest : never
  ) => {
    server = await startFront("native", ...given);
    peer = rawClient(server.port);
    await peer.ofType(frameTypes.settings);
  };
  afterEach(async () => {
    peer.close();
    await server.close();
  });

  it("a client that does not acknowledge SETTINGS within the header timeout gets SETTINGS_TIMEOUT, with or without requests", async () => {
    await start(undefined, { headerTimeoutMs: 40, idleTimeoutMs: 60_000 });
    const obedient = rawClient(server.port);
    await obedient.ofType(frameTypes.settings);
    obedient.send(frame(frameTypes.settings, flags.ack, 0), requestFrame(1, { end: true }));
    await server.next();
    const busy = rawClient(server.port);
    busy.send(requestFrame(1, { end: true }));
    const { client } = await server.next();
    const closed = new Promise<string>((resolve) => (client.onClose = resolve));
    expect(await clock.passing(peer.goawayCode())).to.equal(settingsTimeout);
    expect(await clock.passing(busy.goawayCode())).to.equal(settingsTimeout);
    await closed;
    expect(server.events.map(({ reason }) => reason)).to.deep.equal(["settings-timeout", "settings-timeout"]);
    const question = Buffer.from("obedient");
    obedient.send(frame(frameTypes.ping, 0, 0, question));
    await obedient.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
    busy.close();
    obedient.close();
  });

  it("a client that does not acknowledge SETTINGS is served where there is no header timeout", async () => {
    await start(undefined, { headerTimeoutMs: 0, idleTimeoutMs: 1000 });
    peer.send(requestFrame(1, { end: true }));
    const { client } = await server.next();
    clock.advance(600_000);
    await server.swept();
    reply(client, "late");
    await ended(1);
    expect(contentOf(1)).to.equal("late");
  });

  let questions = 0;
  /** Waits until the connection answers a PING. */
  const isAlive = async (): Promise<void> => {
    const question = Buffer.from(String(++questions).padStart(8, "!"));
    peer.send(frame(frameTypes.ping, 0, 0, question));
    await peer.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
  };
  const post = (id: number, fields: readonly (readonly [string, string])[] = []): Buffer =>
    requestFrame(id, { end: false, method: "POST", fields });
  const contentOf = (id: number): string =>
    Buffer.concat(
      peer.frames
        .filter((f) => f.type === frameTypes.data && f.streamId === id)
        .map(({ payload }) => payload),
    ).toString("latin1");
  const ended = async (id: number): Promise<void> => {
    await peer.frame((f) => f.streamId === id && (f.flags & flags.endStream) !== 0);
  };
  /** Returns a block in as many frames as it needs. */
  const blockFrames = (id: number, block: Buffer): Buffer[] => {
    const frames: Buffer[] = [];
    for (let at = 0; at < block.length; at += 16_384) {
      const isLast = at + 16_384 >= block.length;
      const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
      const flagBits = (isLast ? flags.endHeaders : 0) | (at === 0 ? flags.endStream : 0);
      frames.push(frame(type, flagBits, id, block.subarray(at, at + 16_384)));
    }
    return frames;
  };

  for (const [what, fields] of [
    ["4,001 fields", Buffer.alloc(4001, 0x90)],
    ["a value of 100,000 octets", field("x-a", "a".repeat(100_000))],
  ] as const) {
    it(`a request with ${what} is 431, and its entries of the table stay known`, async () => {
      await start((_connection, _head, client) => reply(client, "ok"));
      const encoder = new BlockEncoder();
      const one = { kind: "incremental", isNameCoded: true, isValueCoded: true } as const;
      const inTable = encoder.encode([{ name: "x-known", value: "value", ...one }]);
      peer.send(...blockFrames(1, Buffer.concat([requestBlock("GET"), fields, inTable])));
      await ended(1);
      const again = encoder.encode([{ name: "x-known", value: "value", ...one, kind: "indexed" }]);
      expect(again).to.have.length(1);
      peer.send(...blockFrames(3, Buffer.concat([requestBlock("GET"), again])));
      await ended(3);
      expect([contentOf(1), contentOf(3)]).to.deep.equal(["431 Request Header Fields Too Large\n", "ok"]);
      expect(server.requests.map(({ head }) => head.headers.toList())).to.deep.equal([["x-known", "value"]]);
    });
  }

  it("content on its way to a stream that was reset is ignored, and does not use up the connection's window", async () => {
    await start((_connection, _head, client) => client.abort());
    const content = times(4, () => Buffer.alloc(16_384));
    // Four times the window of the connection.
    for (let i = 0; i < 64; i++) {
      const id = 2 * i + 1;
      peer.send(post(id));
      await peer.resetCode(id);
      peer.send(...content.map((piece) => frame(frameTypes.data, 0, id, piece)));
      await isAlive();
    }
    expect(peer.frames.filter(({ type }) => type === frameTypes.goaway)).to.deep.equal([]);
    const window = peer.frames
      .filter(({ type, streamId }) => type === frameTypes.windowUpdate && streamId === 0)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 65_535);
    expect(window).to.be.at.least(64 * 65_536);
  });

  it("500 requests of a client that has not read the SETTINGS yet are served or refused, one by one", async () => {
    await start();
    peer.send(...times(500, (i) => requestFrame(2 * i + 1, { end: true })));
    await until(() => peer.frames.filter(({ type }) => type === frameTypes.rstStream).length === 400);
    expect(server.requests).to.have.length(100);
    expect(server.events).to.deep.equal([]);
    peer.send(...times(1000, (i) => requestFrame(2 * i + 1001, { end: true })));
    expect((await peer.ofType(frameTypes.goaway)).payload.readUInt32BE(4)).to.equal(enhanceYourCalm);
  });

  it("content in small frames that crosses the reset of its stream is no flood", async () => {
    await start((_connection, _head, client) => client.abort());
    peer.send(post(1), ...times(20_000, () => frame(frameTypes.data, 0, 1, Buffer.from("x"))));
    await peer.resetCode(1);
    await isAlive();
    expect(server.events).to.deep.equal([]);
  });

  it("content in frames of one octet is held without the memory of the reads that brought it", async () => {
    await start();
    peer.send(post(1), ...times(20_000, () => frame(frameTypes.data, 0, 1, Buffer.from("x"))));
    peer.send(frame(frameTypes.data, flags.endStream, 1, Buffer.from("end")));
    const { client } = await server.next();
    await isAlive();
    expect((await readBody(client.body)).text).to.equal(`${"x".repeat(20_000)}end`);
  });

  it("more content than the window of its stream resets the stream", async () => {
    await start();
    peer.send(post(1), ...times(5, () => frame(frameTypes.data, 0, 1, Buffer.alloc(16_384))));
    expect(await peer.resetCode(1)).to.equal(flowControlError);
    await isAlive();
  });

  it("smaller initial windows make those of streams negative, and content waits until they are open again", async () => {
    await start();
    peer.send(requestFrame(1, { end: true }));
    const { client } = await server.next();
    client.sendHead(streamingHead());
    client.write(Buffer.alloc(60_000, "a"));
    await until(() => contentOf(1).length === 60_000);
    // 65,535 less 60,000 become 100 less 60,000.
    peer.send(frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(100)])));
    await isAlive();
    client.write("b".repeat(1000));
    client.end(undefined);
    peer.send(frame(frameTypes.windowUpdate, 0, 1, uint32(59_900)));
    await isAlive();
    expect(contentOf(1)).to.have.length(60_000);
    peer.send(frame(frameTypes.windowUpdate, 0, 1, uint32(300)));
    await until(() => contentOf(1).length === 60_300);
    peer.send(frame(frameTypes.windowUpdate, 0, 1, uint32(700)));
    await ended(1);
    expect(contentOf(1)).to.equal("a".repeat(60_000) + "b".repeat(1000));
  });

  it("a response head beyond a frame goes on in CONTINUATION, and its first block ends the table of the client", async () => {
    await start();
    peer.send(frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.from([0, 1]), uint32(0)])));
    peer.send(requestFrame(1, { end: true }));
    const { client } = await server.next();
    client.sendHead({
      status: 204,
      headers: Fields.of(["X-A", "a".repeat(40_000)]),
      length: 0,
      bodyless: true,
    });
    client.end(undefined);
    await peer.frame((f) => f.type === frameTypes.continuation && (f.flags & flags.endHeaders) !== 0);
    const block = peer.frames.filter(({ streamId }) => streamId === 1);
    expect(block.map(({ type, flags: bits }) => [type, bits])).to.deep.equal([
      [frameTypes.headers, flags.endStream],
      [frameTypes.continuation, 0],
      [frameTypes.continuation, flags.endHeaders],
    ]);
    expect(block[0]?.payload.subarray(0, 2)).to.deep.equal(Buffer.of(0x20, 0x89));
  });

  it("content is sent as it was written, even when its memory is overwritten as soon as the write has returned", async () => {
    await start();
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(1_000_000)), requestFrame(1, { end: true }));
    const { client } = await server.next();
    client.sendHead(streamingHead());
    const memory = Buffer.alloc(65_536);
    let expected = "";
    // The window of the stream is full after the third.
    for (const [letter, length] of [
      ["a", 300],
      ["b", 30_000],
      ["c", 60_000],
      ["d", 5000],
      ["e", 20],
      ["f", 8192],
    ] as const) {
      client.write(memory.fill(letter).subarray(0, length));
      expected += letter.repeat(length);
    }
    memory.fill("!");
    client.end(undefined);
    await until(() => contentOf(1).length === 65_535);
    peer.send(frame(frameTypes.windowUpdate, 0, 1, uint32(20_000)));
    await until(() => contentOf(1).length === 85_535);
    peer.send(frame(frameTypes.windowUpdate, 0, 1, uint32(100_000)));
    await ended(1);
    expect(contentOf(1) === expected).to.equal(true);
  });

  it("a more urgent response is sent whole before the others, which share what is left of the window", async () => {
    await start();
    // Opens all windows except that of the connection.
    peer.send(frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(1_000_000)])));
    const asking = (id: number, priority: string): Buffer =>
      requestFrame(id, { end: true, fields: [["priority", priority]] });
    peer.send(asking(1, "u=5"), asking(3, "u=5, i"), asking(5, "i, u=1"), asking(7, "u=9"));
    await until(() => server.requests.length === 4);
    for (const { client } of server.requests) {
      client.sendHead(streamingHead());
      client.write("x".repeat(16_000));
      client.write("y".repeat(380));
    }
    await until(() => contentOf(1).length > 0);
    const sizes = (): number[] => [1, 3, 5, 7].map((id) => contentOf(id).length);
    await isAlive();
    expect(sizes()).to.deep.equal([16_380, 16_380, 16_380, 16_380]);
    for (const { client } of server.requests) client.write("z".repeat(10_000));
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(15_000)));
    await isAlive();
    // 15 octets were left.
    expect(sizes()).to.deep.equal([16_380, 16_380, 26_380, 21_395]);
  });

  it("a request that crosses the first GOAWAY is served, one behind the last GOAWAY is not", async () => {
    await start((_connection, _head, client) => setImmediate(() => reply(client, "ok")));
    const open = post(1);
    peer.send(open);
    await until(() => server.requests.length === 1);
    await ended(1);
    server.front.drain();
    const goaways = () => peer.frames.filter(({ type }) => type === frameTypes.goaway);
    await until(() => goaways().length === 1);
    expect(goaways()[0]?.payload.readUInt32BE(0)).to.equal(0x7fffffff);
    peer.send(requestFrame(3, { end: true }));
    await ended(3);
    const { payload } = await peer.frame((f) => f.type === frameTypes.ping && (f.flags & flags.ack) === 0);
    peer.send(post(5), frame(frameTypes.ping, flags.ack, 0, payload), requestFrame(7, { end: true }));
    expect(await peer.goawayCode()).to.equal(0);
    expect(goaways().at(-1)?.payload.readUInt32BE(0)).to.equal(5);
    expect(server.requests).to.have.length(3);
    expect([contentOf(5), contentOf(7)]).to.deep.equal(["ok", ""]);
  });

  describe("streams that a client makes the proxy reset are a flood", () => {
    const tricks: Record<string, (id: number) => Buffer[]> = {
      "by WINDOW_UPDATE of 0": (id) => [frame(frameTypes.windowUpdate, 0, id, uint32(0))],
      "by windows that grow too large": (id) => [frame(frameTypes.windowUpdate, 0, id, uint32(0x7fffffff))],
      "by PRIORITY of a wrong size": (id) => [frame(frameTypes.priority, 0, id, Buffer.alloc(4))],
      "by content beyond Content-Length": (id) => [frame(frameTypes.data, 0, id, Buffer.from("ab"))],
      "by trailers without an end": (id) => [
        frame(frameTypes.headers, flags.endHeaders, id, field("a", "b")),
      ],
    };
    for (const [name, trick] of Object.entries(tricks)) {
      it(name, async () => {
        await start();
        for (let i = 0; i < 210; i++)
          peer.send(post(2 * i + 1, [["content-length", "1"]]), ...trick(2 * i + 1));
        expect(await peer.goawayCode()).to.equal(enhanceYourCalm);
        expect(
          server.events.map(({ reason }) => reason).filter((reason) => reason !== "malformed"),
        ).to.have.length(1);
      });
    }
  });

  it("empty frames of a header block are a flood beyond eight", async () => {
    await start();
    peer.send(
      frame(frameTypes.headers, flags.endStream, 1, requestBlock("GET")),
      ...times(9, () => frame(frameTypes.continuation, 0, 1)),
    );
    expect(await peer.goawayCode()).to.equal(enhanceYourCalm);
    expect(server.events.map(({ reason }) => reason)).to.deep.equal(["frame-flood"]);
  });

  for (const [what, bytes] of [
    ["head of a frame", frame(frameTypes.ping, 0, 0, Buffer.alloc(8)).subarray(0, 5)],
    ["frame", requestFrame(3, { end: true }).subarray(0, 20)],
    ["header block", frame(frameTypes.headers, flags.endStream, 3, requestBlock("GET"))],
  ] as const) {
    it(`an incomplete ${what} closes the connection when the time for a head is over, other streams or not`, async () => {
      await start(undefined, { headerTimeoutMs: 5000, idleTimeoutMs: 200 });
      peer.send(frame(frameTypes.settings, flags.ack, 0));
      peer.send(requestFrame(1, { end: true }));
      await server.next();
      peer.send(bytes);
      await clock.passing(peer.goawayCode());
      expect(server.events.map(({ reason }) => reason)).to.deep.equal(["header-timeout"]);
    });
  }

  it("content that comes octet by octet is no incomplete frame", async () => {
    await start(undefined, { headerTimeoutMs: 1000, idleTimeoutMs: 200 });
    peer.send(frame(frameTypes.settings, flags.ack, 0), post(1));
    const body = readBody((await server.next()).client.body);
    const bytes = frame(frameTypes.data, flags.endStream, 1, Buffer.alloc(20, "x"));
    peer.send(bytes.subarray(0, 9));
    for (let at = 9; at < bytes.length; at++) {
      peer.send(bytes.subarray(at, at + 1));
      clock.advance(900);
      await server.swept();
    }
    expect((await body).text).to.have.length(20);
    expect(server.events).to.deep.equal([]);
  });

  it("a HEADERS frame that makes its stream depend on itself resets it", async () => {
    await start();
    const priority = Buffer.concat([uint32(1), Buffer.of(16)]);
    peer.send(frame(frameTypes.headers, 0x20 | 5, 1, Buffer.concat([priority, requestBlock("GET")])));
    expect(await peer.resetCode(1)).to.equal(protocolError);
    expect(server.requests).to.deep.equal([]);
  });

  it("frames that wait for a client that takes none are bounded", async () => {
    await start(undefined, { idleTimeoutMs: 200 });
    peer.socket.pause();
    peer.send(...times(90, (i) => requestFrame(2 * i + 1, { end: true })));
    await until(() => server.requests.length === 90);
    for (const { client } of server.requests) {
      client.sendHead(streamingHead(["x-a", "a".repeat(30_000)]));
      client.write(Buffer.alloc(60_000));
    }
    const held = server.requests.reduce((sum, { client }) => sum + (client.pendingBytes ?? 0), 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(held).to.be.at.most(90 * 65_536);
    peer.socket.resume();
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(10_000_000)));
    for (const { client } of server.requests) client.end(undefined);
    for (let i = 0; i < 90; i++) await ended(2 * i + 1);
    expect(server.events).to.deep.equal([]);
  });
});
