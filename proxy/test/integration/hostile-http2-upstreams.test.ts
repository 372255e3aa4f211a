import { expect } from "chai";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { field, flags, frame, frameTypes, RawPeer, uint32 } from "../http/h2/frames.ts";
import { eventually, exchange, startGateway, startTcp, type Gateway } from "./gateway.ts";
import { getOverHttp2 } from "./http2-client.ts";

const host = "a.example";
const get = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

const head = (id: number): Buffer => frame(frameTypes.headers, flags.endHeaders, id, field(":status", "200"));
const data = (id: number, text: string, end = false): Buffer =>
  frame(frameTypes.data, end ? flags.endStream : 0, id, Buffer.from(text));
const reset = (id: number, code: number): Buffer => frame(frameTypes.rstStream, 0, id, uint32(code));
const goaway = (lastStreamId: number, code: number): Buffer =>
  frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code)]));
const good = (id: number): Buffer => Buffer.concat([head(id), data(id, "good", true)]);

const [noError, internalError, cancel] = [0, 2, 8];

describeHttp2Codecs("hostile HTTP/2 upstreams, through the whole data plane", () => {
  let gateway: Gateway;
  let peers: RawPeer[];
  let stop: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  /** An upstream that answers each request with frames; `index` counts requests over all connections. */
  const serve = async (answer: (id: number, index: number) => Buffer): Promise<void> => {
    peers = [];
    let index = 0;
    const server = await startTcp((socket) => {
      const peer = new RawPeer(socket, { asServer: true });
      peers.push(peer);
      peer.send(frame(frameTypes.settings, 0, 0));
      let seen = 0;
      socket.on("data", () => {
        for (; seen < peer.frames.length; seen++) {
          const { type, streamId } = peer.frames[seen] ?? {};
          if (type === frameTypes.headers && streamId !== undefined) peer.send(answer(streamId, index++));
        }
      });
    });
    stop.push(() => server.close());
    gateway = await startGateway({ ports: [server.port], protocol: "http2" });
    const started = gateway;
    stop.push(() => started.close());
  };

  for (const [name, code] of [
    ["CANCEL", cancel],
    ["NO_ERROR", noError],
  ] as const) {
    it(`a reset with ${name} within the body is an error for every client, never an end`, async () => {
      await serve((id) => Buffer.concat([head(id), data(id, "half"), reset(id, code)]));
      const answer = await exchange(gateway.port, get);
      expect(answer === "" || answer.startsWith("HTTP/1.1 502 ") || !answer.endsWith("0\r\n\r\n")).to.equal(
        true,
      );
      const seen = await getOverHttp2(gateway.port, host);
      expect(seen.status === 502 || !seen.ended, JSON.stringify(seen)).to.equal(true);
      await eventually(() => gateway.records.length === 2);
      for (const record of gateway.records) expect(record.error).to.be.a("string");
    });
  }

  it("a storm of resets is a 502 for each and ends nothing else", async () => {
    await serve((id, index) => (index < 50 ? reset(id, internalError) : good(id)));
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(gateway.port, get)));
    expect(new Set(answers.map((answer) => answer.slice(0, 12)))).to.deep.equal(new Set(["HTTP/1.1 502"]));
    expect(await exchange(gateway.port, get)).to.include("good");
  });

  it("GOAWAY lets what was taken finish and sends the next request over another connection", async () => {
    await serve((id) => Buffer.concat([goaway(id, noError), good(id)]));
    for (let i = 0; i < 3; i++) expect(await exchange(gateway.port, get)).to.include("good");
    expect(peers).to.have.length(3);
  });

  it("GOAWAY with an error in the middle of a response is an error for its client, not for the next", async () => {
    await serve((id, index) =>
      index > 0 ? good(id) : Buffer.concat([head(id), data(id, "half"), goaway(0, internalError)]),
    );
    const first = getOverHttp2(gateway.port, host);
    await eventually(
      () => peers.length > 0 && peers[0]?.frames.some(({ type }) => type === frameTypes.headers) === true,
    );
    peers[0]?.socket.end();
    const seen = await first;
    expect(seen.status === 502 || !seen.ended, JSON.stringify(seen)).to.equal(true);
    expect(await exchange(gateway.port, get)).to.include("good");
  });

  const floods: readonly [name: string, frames: Buffer][] = [
    ["PING", frame(frameTypes.ping, 0, 0, Buffer.alloc(8))],
    ["SETTINGS", frame(frameTypes.settings, 0, 0)],
    ["PRIORITY", frame(frameTypes.priority, 0, 1, Buffer.alloc(5))],
    ["WINDOW_UPDATE", frame(frameTypes.windowUpdate, 0, 0, uint32(1))],
    ["empty DATA", data(1, "")],
    ["a push that was refused", frame(frameTypes.pushPromise, flags.endHeaders, 1, uint32(2))],
    ["CONTINUATION", frame(frameTypes.continuation, 0, 1, Buffer.alloc(1))],
    ["resets of streams that are none", reset(99, cancel)],
  ];
  for (const [name, one] of floods) {
    it(`a flood of ${name} ends with its request at most; the next one is served`, async () => {
      const flood = Buffer.concat(Array.from({ length: 20_000 }, () => one));
      await serve((id, index) =>
        index > 0 ? good(id) : Buffer.concat([head(id), flood, data(id, "good", true)]),
      );
      const seen = await getOverHttp2(gateway.port, host);
      expect(seen.status === 502 || !seen.ended || seen.body === "good", JSON.stringify(seen)).to.equal(true);
      await eventually(() => gateway.records.length === 1);
      expect(await exchange(gateway.port, get)).to.include("good");
    });
  }
});
