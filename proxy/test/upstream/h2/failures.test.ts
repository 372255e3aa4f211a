import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { createServer as createHttp1Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { holdRefusingPort } from "../../../../common/test/held-ports.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { field, flags, frame, frameTypes, uint32 } from "../../http/h2/frames.ts";
import { until } from "../../http/h2/support.ts";
import { data, head, reset, settings } from "./server-frames.ts";
import {
  createClient,
  type Exchanged,
  exchange,
  FedBody,
  type RawBackend,
  startBackend,
  startRawBackend,
} from "./support.ts";

describeHttp2Codecs("HTTP/2 upstream client: failures", () => {
  let client: UpstreamClient;
  let backend: RawBackend;

  beforeEach(async () => {
    client = createClient();
    backend = await startRawBackend();
  });
  afterEach(async () => {
    client.close();
    await backend.close();
  });

  /** Sends a request and answers with frames once it has arrived. */
  const answered = async (frames: readonly Buffer[], method = "GET"): Promise<Exchanged> => {
    const sent = exchange(client, backend.port, { method });
    const peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
    peer.send(...frames);
    return sent.settled;
  };

  it("a refused connection is reported as refused by the HTTP/2 client", async () => {
    const refusing = await holdRefusingPort();
    expect((await exchange(client, refusing.port).settled).error).to.deep.include({
      kind: "refused",
      requestSent: false,
    });
    refusing.close();
  });

  it("the HTTP/2 client fails quickly when the endpoint speaks HTTP/1", async () => {
    const server = createHttp1Server((_request, response) => response.end("hello"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { error } = await exchange(client, (server.address() as AddressInfo).port).settled;
    expect(error).to.deep.include({ kind: "invalid", requestSent: false });
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });

  it("the HTTP/2 client gives up on an endpoint that accepts and sends nothing", async () => {
    client.close();
    client = createClient({ connectTimeoutMs: 50 });
    const { error } = await exchange(client, backend.port).settled;
    expect(error).to.deep.include({ kind: "connect-timeout", requestSent: false });
  });

  it("an endpoint that closes before it has sent anything is reported as a reset", async () => {
    const sent = exchange(client, backend.port);
    (await backend.accept()).close();
    const { error } = await sent.settled;
    expect(error).to.deep.include({ kind: "reset", requestSent: false });
  });

  for (const [name, frames, text] of [
    ["before the head", [reset(1, 2)], "INTERNAL_ERROR"],
    ["with NO_ERROR before the head", [reset(1, 0)], "response cut off"],
    ["after the head", [head(1), reset(1, 8)], "CANCEL"],
    ["within the body", [head(1), data(1, "part"), reset(1, 11)], "ENHANCE_YOUR_CALM"],
    ["with NO_ERROR within the body", [head(1), data(1, "part"), reset(1, 0)], "response cut off"],
  ] as const) {
    it(`a stream reset ${name} is reported as an error`, async () => {
      const { error, ended } = await answered(frames);
      expect(ended).to.equal(false);
      expect(error).to.deep.include({ kind: "reset", requestSent: true });
      expect(error?.text).to.include(text);
    });
  }

  it("a reset is not mistaken for the end while the response is paused", async () => {
    for (const last of [reset(1, 0), data(1, "end", flags.endStream)]) {
      const sent = exchange(client, backend.port);
      sent.full = true;
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      peer.send(head(1), data(1, "a"));
      await sent.when(() => sent.body === "a");
      peer.send(data(1, "b"), last, frame(frameTypes.ping, 0, 0, Buffer.alloc(8)));
      await peer.frame((f) => f.type === frameTypes.ping);
      sent.full = false;
      sent.stream.resume();
      const { error, ended } = await sent.settled;
      expect(ended).to.equal(error === undefined);
      expect(error === undefined).to.equal(last.length > 13 || last[3] === frameTypes.data);
      client.close();
      client = createClient();
    }
  });

  it("after an early response, an unfinished request body is reset instead of ended", async () => {
    const body = new FedBody();
    const sent = exchange(client, backend.port, { method: "POST", body });
    const peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
    body.data("half");
    await peer.ofType(frameTypes.data);
    peer.send(head(1), data(1, "early", flags.endStream));
    expect((await sent.settled).body).to.equal("early");
    const { payload } = await peer.ofType(frameTypes.rstStream);
    expect(payload.readUInt32BE()).to.equal(8);
    expect(peer.frames.filter((f) => f.type === frameTypes.data).map((f) => f.flags)).to.deep.equal([0]);
  });

  it("a connection that closes within the body is reported as a reset", async () => {
    const sent = exchange(client, backend.port);
    const peer = await backend.accept();
    peer.send(settings);
    await peer.ofType(frameTypes.headers);
    peer.send(head(1), data(1, "part"));
    await sent.when(() => sent.body === "part");
    peer.socket.destroy();
    const { error, ended } = await sent.settled;
    expect(ended).to.equal(false);
    expect(error).to.deep.include({ kind: "reset", requestSent: true });
  });

  const invalid: Record<string, readonly Buffer[]> = {
    "no status": [head(1, { fields: [["a", "b"]] })],
    "a status that is no number": [head(1, { fields: [[":status", "2x0"]] })],
    "two statuses, the first of which is none": [
      head(1, {
        fields: [
          [":status", "000"],
          [":status", "200"],
        ],
      }),
    ],
    "status 101": [head(1, { fields: [[":status", "101"]], end: true })],
    "an upper-case name": [
      head(1, {
        fields: [
          [":status", "200"],
          ["Foo", "x"],
        ],
      }),
    ],
    "a field of a connection": [
      head(1, {
        fields: [
          [":status", "200"],
          ["connection", "close"],
        ],
      }),
    ],
    "a request pseudo-field": [
      head(1, {
        fields: [
          [":status", "200"],
          [":path", "/"],
        ],
      }),
    ],
    "two lengths": [
      head(1, {
        fields: [
          [":status", "200"],
          ["content-length", "1"],
          ["content-length", "2"],
        ],
      }),
    ],
    "more data than Content-Length": [
      head(1, {
        fields: [
          [":status", "200"],
          ["content-length", "1"],
        ],
      }),
      data(1, "xyz", flags.endStream),
    ],
    "less data than Content-Length": [
      head(1, {
        fields: [
          [":status", "200"],
          ["content-length", "3"],
        ],
      }),
      data(1, "x", flags.endStream),
    ],
    "more than 200 fields": [
      head(1, { fields: [[":status", "200"], ...Array.from({ length: 201 }, () => ["a", "b"] as const)] }),
    ],
    "1xx heads without end": Array.from({ length: 30 }, () => head(1, { fields: [[":status", "103"]] })),
    "1xx heads of more than 64 KiB": Array.from({ length: 5 }, () =>
      head(1, {
        fields: [
          [":status", "103"],
          ["link", "x".repeat(15_000)],
        ],
      }),
    ),
    "1xx with END_STREAM": [head(1, { fields: [[":status", "103"]], end: true })],
  };
  for (const [name, frames] of Object.entries(invalid)) {
    it(`a response with ${name} is rejected, and the connection is kept`, async () => {
      const other = exchange(client, backend.port);
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      const sent = exchange(client, backend.port);
      await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      const renumbered = frames.map((bytes) => {
        const copy = Buffer.from(bytes);
        copy.writeUInt32BE(3, 5);
        return copy;
      });
      peer.send(...renumbered);
      const { error, ended } = await sent.settled;
      expect(ended).to.equal(false);
      expect(error).to.deep.include({ kind: "invalid", requestSent: true });
      peer.send(head(1, { end: true }));
      expect((await other.settled).ended).to.equal(true);
    });
  }

  it("a response head above 64 KiB is rejected", async () => {
    const big = Buffer.concat([field(":status", "200"), Buffer.from([0, 1, 0x61, 0x7f, 0xf1, 0x9f, 0x04])]);
    const block = Buffer.concat([big, Buffer.alloc(70_000, 0x61)]);
    const frames: Buffer[] = [];
    for (let at = 0; at < block.length; at += 16_384) {
      const last = at + 16_384 >= block.length;
      const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
      frames.push(frame(type, last ? 4 : 0, 1, block.subarray(at, at + 16_384)));
    }
    const { error } = await answered(frames);
    expect(error).to.deep.include({ kind: "invalid", requestSent: true });
  });

  it("invalid HTTP/2 framing is reported as an invalid response", async () => {
    const { error } = await answered([frame(frameTypes.windowUpdate, 0, 0, uint32(0))]);
    expect(error).to.deep.include({ kind: "invalid", requestSent: true });
  });

  it("a complete response followed by a reset with NO_ERROR is accepted", async () => {
    const body = new FedBody();
    const sent = exchange(client, backend.port, { method: "POST", body });
    const peer = await backend.accept();
    peer.send(settings);
    await body.whenStarted;
    peer.send(head(1), data(1, "early", flags.endStream), reset(1, 0));
    const { ended, body: text } = await sent.settled;
    expect(ended).to.equal(true);
    expect(text).to.equal("early");
  });

  it("a request that waits too long for a stream fails with a connect timeout", async () => {
    client.close();
    client = createClient({ connectTimeoutMs: 60 });
    const streams: ServerHttp2Stream[] = [];
    const busy = await startBackend((stream) => streams.push(stream), { maxConcurrentStreams: 1 });
    const sent = Array.from({ length: 9 }, () => exchange(client, busy.port));
    await until(() => sent.some(({ error }) => error !== undefined));
    const failed = sent.filter(({ error }) => error !== undefined);
    for (const { error } of failed) expect(error?.kind).to.equal("connect-timeout");
    expect(busy.sessions.length).to.be.at.most(8);
    client.close();
    await busy.close();
  });
});
