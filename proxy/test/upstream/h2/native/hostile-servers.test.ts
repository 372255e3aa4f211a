import { expect } from "chai";
import type { UpstreamClient } from "../../../../src/upstream/upstream.ts";
import { field, flags, frame, frameTypes, type RawPeer, uint32 } from "../../../http/h2/frames.ts";
import { useHttp2Codec } from "../../../http2-codecs.ts";
import { BlockEncoder } from "../../../http2/hpack/block.ts";
import { data, goaway, head, settings } from "../server-frames.ts";
import { createClient, type Exchanged, exchange, type RawBackend, startRawBackend } from "../support.ts";

const [protocolError, flowControlError, streamClosed] = [1, 3, 5];
const [compressionError, enhanceYourCalm] = [9, 11];

const ping = (text: string): Buffer => frame(frameTypes.ping, 0, 0, Buffer.from(text));
const setting = (id: number, value: number): Buffer =>
  frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]));
const windowOf = (id: number, by: number): Buffer => frame(frameTypes.windowUpdate, 0, id, uint32(by));
const times = (count: number, one: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => one));

describe("hostile servers and the native HTTP/2 upstream client", () => {
  let client: UpstreamClient;
  let backend: RawBackend;
  let peer: RawPeer;
  let first: Exchanged;

  before(() => useHttp2Codec("native"));
  after(() => useHttp2Codec(undefined));
  beforeEach(async () => {
    client = createClient();
    backend = await startRawBackend();
    first = exchange(client, backend.port);
    peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
  });
  afterEach(async () => {
    client.close();
    await backend.close();
  });

  let questions = 0;
  /** Resolves once the client has read everything and answered a PING, which shows that the connection is open. */
  const isAlive = async (): Promise<void> => {
    const question = String(++questions).padStart(8, "!");
    peer.send(ping(question));
    await peer.frame((f) => f.type === frameTypes.ping && f.payload.toString() === question);
  };

  const connectionErrors: Readonly<Record<string, readonly [frames: readonly Buffer[], code: number]>> = {
    "a header block that another frame interrupts": [
      [frame(frameTypes.headers, 0, 1, field(":status", "200")), data(1, "x")],
      protocolError,
    ],
    "a header block that goes on for another stream": [
      [
        frame(frameTypes.headers, 0, 1, field(":status", "200")),
        frame(frameTypes.continuation, flags.endHeaders, 3),
      ],
      protocolError,
    ],
    "CONTINUATION of nothing": [[frame(frameTypes.continuation, flags.endHeaders, 1)], protocolError],
    "HEADERS on a stream that is idle": [[head(99)], protocolError],
    "HEADERS on a stream of its own": [[head(2)], protocolError],
    "DATA on a stream that is idle": [[data(99, "x")], protocolError],
    "RST_STREAM on a stream that is idle": [[frame(frameTypes.rstStream, 0, 99, uint32(8))], protocolError],
    "WINDOW_UPDATE on a stream that is idle": [[windowOf(99, 1)], protocolError],
    PUSH_PROMISE: [
      [frame(frameTypes.pushPromise, flags.endHeaders, 1, Buffer.concat([uint32(2)]))],
      protocolError,
    ],
    "SETTINGS that offer push": [[setting(2, 1)], protocolError],
    PRIORITY_UPDATE: [[frame(16, 0, 0, Buffer.concat([uint32(1), Buffer.from("u=1")]))], protocolError],
    "a block with an index that is none": [
      [frame(frameTypes.headers, flags.endHeaders, 1, Buffer.of(0xff, 0x80, 0x01))],
      compressionError,
    ],
    "a frame larger than announced": [[frame(frameTypes.ping, 0, 0, Buffer.alloc(16_385))], 6],
    "a window of the connection beyond 2^31-1": [[windowOf(0, 0x7fff_ffff)], flowControlError],
    "nine CONTINUATION frames": [
      [
        frame(frameTypes.headers, 0, 1, field(":status", "200")),
        times(9, frame(frameTypes.continuation, 0, 1)),
      ],
      enhanceYourCalm,
    ],
    "a flood of PING": [[times(1_100, ping("12345678"))], enhanceYourCalm],
    "a flood of SETTINGS": [[times(1_100, settings)], enhanceYourCalm],
    "a flood of WINDOW_UPDATE": [[times(1_100, windowOf(1, 1))], enhanceYourCalm],
    "a flood of PRIORITY": [
      [times(1_100, frame(frameTypes.priority, 0, 1, Buffer.alloc(5)))],
      enhanceYourCalm,
    ],
    "a flood of empty DATA": [[head(1), times(1_100, data(1, ""))], enhanceYourCalm],
    "a flood of unknown frames": [[times(1_100, frame(200, 0, 0))], enhanceYourCalm],
    "a flood of PING and unknown frames together": [
      [times(600, ping("12345678")), times(600, frame(200, 0, 0))],
      enhanceYourCalm,
    ],
    "a flood of GOAWAY": [[times(1_100, goaway(1, 0))], enhanceYourCalm],
  };
  for (const [name, [frames, code]] of Object.entries(connectionErrors)) {
    it(`${name} ends the connection with an error, and its requests with it`, async () => {
      peer.send(...frames);
      expect(await peer.goawayCode()).to.equal(code);
      const { error, ended } = await first.settled;
      expect(ended).to.equal(false);
      expect(error).to.deep.include({ kind: "invalid", requestSent: true });
      expect(error?.text).to.equal("invalid HTTP/2 from endpoint");
    });
  }

  for (const [name, frame_] of [
    ["HEADERS", head(1, { fields: [["x-a", "1"]], end: true })],
    ["DATA", data(1, "more")],
  ] as const) {
    it(`${name} after END_STREAM end the connection, and the response that was complete stays so`, async () => {
      peer.send(head(1), data(1, "whole", flags.endStream), frame_);
      expect((await first.settled).body).to.equal("whole");
      expect(await peer.goawayCode()).to.equal(streamClosed);
    });
  }

  const malformed: Readonly<
    Record<string, readonly [fields: readonly (readonly [string, string])[], string]>
  > = {
    "a line break in a value": [[["x-a", "a\r\nb"]], "invalid response header"],
    "NUL in a value": [[["x-a", "a\0b"]], "invalid response header"],
    "a space in a name": [[["x a", "1"]], "invalid response header"],
    "an empty name": [[["", "1"]], "invalid response header"],
    "white space around a value": [[["x-a", " 1"]], "invalid response header"],
    "Transfer-Encoding": [[["transfer-encoding", "chunked"]], "invalid response header"],
    "a second status": [[[":status", "200"]], "invalid response header"],
    "a length that is no number": [[["content-length", "1x"]], "invalid response header"],
    "a length beyond 2^53": [[["content-length", "9007199254740993"]], "invalid content-length"],
    "a head of more than 64 KiB": [[["x-a", "a".repeat(8000)]], "response header too large"],
  };
  for (const [name, [fields, text]] of Object.entries(malformed)) {
    it(`a response with ${name} is refused by name, and the connection goes on`, async () => {
      const repeated =
        text === "response header too large" ? Array.from({ length: 9 }, () => fields[0]) : fields;
      const block = Buffer.concat(
        [[":status", "200"] as const, ...(repeated as typeof fields)].map(([key, value]) =>
          field(key, value),
        ),
      );
      const cut = Math.min(block.length, 16_384);
      const rest: Buffer[] = [];
      for (let at = cut; at < block.length; at += 16_384) {
        const isLast = at + 16_384 >= block.length;
        rest.push(
          frame(frameTypes.continuation, isLast ? flags.endHeaders : 0, 1, block.subarray(at, at + 16_384)),
        );
      }
      peer.send(
        frame(frameTypes.headers, rest.length === 0 ? flags.endHeaders : 0, 1, block.subarray(0, cut)),
        ...rest,
      );
      const { error, ended } = await first.settled;
      expect(ended).to.equal(false);
      expect(error).to.deep.equal({ kind: "invalid", text, requestSent: true });
      await isAlive();
    });
  }

  for (const [name, frames, text] of [
    ["without a head", [data(1, "x")], "response body without a head"],
    [
      "of a 304",
      [head(1, { fields: [[":status", "304"]] }), data(1, "x")],
      "response body longer than declared",
    ],
    [
      "longer than declared",
      [
        head(1, {
          fields: [
            [":status", "200"],
            ["content-length", "1"],
          ],
        }),
        data(1, "xy"),
      ],
      "response body longer than declared",
    ],
    [
      "that ends early in a head",
      [
        head(1, {
          fields: [
            [":status", "200"],
            ["content-length", "1"],
          ],
          end: true,
        }),
      ],
      "response body shorter than declared",
    ],
    [
      "that ends early in trailers",
      [
        head(1, {
          fields: [
            [":status", "200"],
            ["content-length", "1"],
          ],
        }),
        head(1, { fields: [["x-a", "1"]], end: true }),
      ],
      "response body shorter than declared",
    ],
    [
      "with trailers that do not end it",
      [head(1), head(1, { fields: [["x-a", "1"]] })],
      "invalid response trailers",
    ],
    [
      "with pseudo-fields in trailers",
      [head(1), head(1, { fields: [[":status", "200"]], end: true })],
      "invalid response trailers",
    ],
    [
      "with a field of the connection in trailers",
      [head(1), head(1, { fields: [["transfer-encoding", "chunked"]], end: true })],
      "invalid response trailers",
    ],
  ] as const) {
    it(`a body ${name} is refused by name, and the connection goes on`, async () => {
      peer.send(...frames);
      const { error, ended } = await first.settled;
      expect(ended).to.equal(false);
      expect(error).to.deep.equal({ kind: "invalid", text, requestSent: true });
      expect(await peer.resetCode(1)).to.equal(protocolError);
      await isAlive();
    });
  }

  it("a length in trailers, true or not, is dropped, and the response ends with the other trailers", async () => {
    const fields = [
      ["x-a", "1"],
      ["content-length", "7"],
    ] as const;
    peer.send(head(1), head(1, { fields, end: true }));
    const { error, ended, trailers } = await first.settled;
    expect(error).to.equal(undefined);
    expect(ended).to.equal(true);
    expect(trailers).to.deep.equal(["x-a", "1"]);
  });

  it("more than 100 malformed responses do not end a connection: each is that of a request", async () => {
    peer.send(data(1, "x"));
    await first.settled;
    for (let i = 1; i <= 150; i++) {
      const sent = exchange(client, backend.port);
      const id = 2 * i + 1;
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === id);
      peer.send(data(id, "x"));
      expect((await sent.settled).error?.text).to.equal("response body without a head");
    }
    await isAlive();
    expect(backend.sockets).to.have.length(1);
  });

  it("what was on its way when a request was cancelled is ignored, as much as its window allows", async () => {
    // More than the window of the connection in all.
    const sent: Exchanged[] = [first];
    for (let i = 0; i < 40; i++) {
      const id = 2 * i + 1;
      if (i > 0) sent.push(exchange(client, backend.port));
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === id);
      sent[i]?.stream.abort();
      await peer.resetCode(id);
      peer.send(head(id), ...Array.from({ length: 4 }, () => data(id, "x".repeat(16_384))));
      await isAlive();
    }
  });

  it("a stream that was cancelled gets no more than its window, or the connection ends", async () => {
    first.stream.abort();
    await peer.resetCode(1);
    const whole = Array.from({ length: 4 }, () => data(1, "x".repeat(16_384)));
    peer.send(head(1), ...whole);
    await isAlive();
    peer.send(data(1, "x"));
    expect(await peer.goawayCode()).to.equal(streamClosed);
  });

  it("a response that no client takes holds as much as its window, and more of it resets the stream", async () => {
    first.full = true;
    const other = exchange(client, backend.port);
    peer.send(head(1), ...Array.from({ length: 4 }, () => data(1, "x".repeat(16_384))));
    await first.when(() => first.body.length > 0);
    await isAlive();
    expect(first.body.length).to.be.at.most(16_384);
    expect(peer.frames.filter((f) => f.type === frameTypes.windowUpdate && f.streamId === 1)).to.have.length(
      0,
    );
    peer.send(data(1, "x"));
    expect(await peer.resetCode(1)).to.equal(flowControlError);
    expect((await first.settled).error?.kind).to.equal("invalid");
    peer.send(head(3, { end: true }));
    expect((await other.settled).ended).to.equal(true);
  });

  it("what a cancelled request has left behind is given back to the window of the connection", async () => {
    let id = 1;
    let sent = first;
    // Twice the window of the connection: 32 streams that hold 64 KiB each, one after the other.
    for (let i = 0; i < 32; i++) {
      if (i > 0) {
        sent = exchange(client, backend.port);
        id += 2;
        const number = id;
        await peer.frame((f) => f.type === frameTypes.headers && f.streamId === number);
      }
      sent.full = true;
      peer.send(head(id), ...Array.from({ length: 4 }, () => data(id, "x".repeat(16_384))));
      const held = sent;
      await held.when(() => held.body.length > 0);
      await isAlive();
      sent.stream.abort();
      await peer.resetCode(id);
    }
    await isAlive();
  });

  it("entries of a table that a refused head has added stay known", async () => {
    const encoder = new BlockEncoder();
    const plain = { isNameCoded: true, isValueCoded: true } as const;
    const known = { name: "x-known", value: "value", ...plain } as const;
    const block = encoder.encode([
      { name: ":status", value: "200", kind: "indexed", ...plain },
      { ...known, kind: "incremental" },
      { name: "Bad", value: "1", kind: "plain", ...plain },
    ]);
    peer.send(frame(frameTypes.headers, flags.endHeaders, 1, block));
    expect((await first.settled).error?.text).to.equal("invalid response header");
    const next = exchange(client, backend.port);
    await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
    const again = encoder.encode([
      { name: ":status", value: "200", kind: "indexed", ...plain },
      { ...known, kind: "indexed" },
    ]);
    expect(again).to.have.length(2);
    peer.send(frame(frameTypes.headers, flags.endHeaders | flags.endStream, 3, again));
    expect((await next.settled).head?.headers.toList()).to.deep.equal(["x-known", "value"]);
  });
});
