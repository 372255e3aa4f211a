import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { createServer as createHttp1Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { BufferBody } from "../../../src/auth/external-call.ts";
import { holdRefusingPort } from "../../../../common/test/refusing-port.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { field, flags, frame, frameTypes, type RawPeer, uint32 } from "../../http/h2/frames.ts";
import { until } from "../../http/h2/support.ts";
import {
  createClient,
  type Exchanged,
  exchange,
  FedBody,
  type RawBackend,
  startBackend,
  startRawBackend,
} from "./support.ts";

const settings = frame(frameTypes.settings, 0, 0);
const data = (id: number, text: string, flagBits = 0): Buffer =>
  frame(frameTypes.data, flagBits, id, Buffer.from(text));
const reset = (id: number, code: number): Buffer => frame(frameTypes.rstStream, 0, id, uint32(code));
const goaway = (lastStreamId: number, code: number): Buffer =>
  frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code)]));
const head = (
  id: number,
  options: { readonly end?: boolean; readonly fields?: readonly (readonly [string, string])[] } = {},
): Buffer =>
  frame(
    frameTypes.headers,
    flags.endHeaders | (options.end === true ? flags.endStream : 0),
    id,
    Buffer.concat((options.fields ?? [[":status", "200"]]).map(([name, value]) => field(name, value))),
  );

describe("HTTP/2 upstream client: failures", () => {
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

  describe("replacement of unprocessed requests", () => {
    const serve = (peer: RawPeer, id = 1): void => peer.send(head(id), data(id, "served", flags.endStream));

    /** The next connection, which has a request by then. */
    const accept = async (): Promise<RawPeer> => {
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      return peer;
    };

    it("a refused request is sent once more, on a new connection", async () => {
      const sent = exchange(client, backend.port, { method: "POST" });
      (await accept()).send(reset(1, 7));
      serve(await accept());
      const { body, connections } = await sent.settled;
      expect(body).to.equal("served");
      expect(connections).to.deep.equal([false, false]);
    });

    it("other requests continue on a connection that has refused one", async () => {
      const refused = exchange(client, backend.port);
      const first = await accept();
      first.send(reset(1, 7));
      const second = await accept();
      const other = exchange(client, backend.port);
      await first.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      serve(first, 3);
      serve(second);
      expect([(await other.settled).body, (await refused.settled).body]).to.deep.equal(["served", "served"]);
    });

    it("a refused request goes to another existing connection when no more may be opened", async () => {
      const limited = frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, 3), uint32(1)]));
      const sent: ReturnType<typeof exchange>[] = [];
      const peers: RawPeer[] = [];
      for (let index = 0; index < 8; index++) {
        sent.push(exchange(client, backend.port));
        const peer = await backend.accept();
        peers.push(peer);
        peer.send(limited);
        await peer.ofType(frameTypes.headers);
      }
      peers[0]?.send(reset(1, 7));
      await new Promise((resolve) => setImmediate(resolve));
      serve(peers[5] as RawPeer);
      await peers[5]?.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
      serve(peers[5] as RawPeer, 3);
      expect((await sent[0]?.settled)?.body).to.equal("served");
      expect(peers[0]?.frames.filter(({ type }) => type === frameTypes.headers)).to.have.length(1);
    });

    it("the body of a refused request is sent again from its beginning", async () => {
      const body = new BufferBody(Buffer.from("all of it"));
      const sent = exchange(client, backend.port, { method: "POST", body });
      const sentBody = async (peer: RawPeer): Promise<string> => {
        const end = (f: { type: number; flags: number }): boolean =>
          f.type === frameTypes.data && (f.flags & 1) !== 0;
        await peer.frame(end);
        return Buffer.concat(
          peer.frames.filter((f) => f.type === frameTypes.data).map((f) => f.payload),
        ).toString();
      };
      const first = await accept();
      expect(await sentBody(first)).to.equal("all of it");
      first.send(reset(1, 7));
      const second = await accept();
      expect(await sentBody(second)).to.equal("all of it");
      serve(second);
      expect((await sent.settled).body).to.equal("served");
    });

    it("a request that is refused twice fails", async () => {
      const sent = exchange(client, backend.port);
      (await accept()).send(reset(1, 7));
      (await accept()).send(reset(1, 7));
      expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: false });
    });

    it("a refused request whose body was started and not kept is not repeated", async () => {
      const body = new FedBody();
      const sent = exchange(client, backend.port, { method: "POST", body });
      const peer = await backend.accept();
      peer.send(settings);
      await body.whenStarted;
      await peer.ofType(frameTypes.headers);
      peer.send(reset(1, 7));
      expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: false });
    });

    for (const code of [0, 11]) {
      it(`a request above the last stream of GOAWAY ${code} moves to a new connection`, async () => {
        const first = exchange(client, backend.port, { method: "POST" });
        const peer = await backend.accept();
        peer.send(settings);
        await peer.ofType(frameTypes.headers);
        const second = exchange(client, backend.port, { method: "POST" });
        await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
        peer.send(goaway(1, code));
        const replacement = await backend.accept();
        replacement.send(settings);
        await replacement.ofType(frameTypes.headers);
        serve(replacement);
        expect((await second.settled).body).to.equal("served");
        if (code === 0) {
          serve(peer);
          expect((await first.settled).body).to.equal("served");
        } else {
          expect((await first.settled).error?.kind).to.equal("reset");
        }
      });
    }

    it("an idempotent request on a lost reused connection is repeated, a POST is not", async () => {
      for (const method of ["GET", "POST"]) {
        const warm = exchange(client, backend.port);
        const peer = await backend.accept();
        peer.send(settings);
        await peer.ofType(frameTypes.headers);
        serve(peer);
        await warm.settled;
        const sent = exchange(client, backend.port, { method });
        await peer.frame((f) => f.type === frameTypes.headers && f.streamId === 3);
        peer.close();
        if (method === "GET") {
          const fresh = await backend.accept();
          fresh.send(settings);
          await fresh.ofType(frameTypes.headers);
          serve(fresh);
          expect((await sent.settled).body).to.equal("served");
        } else {
          expect((await sent.settled).error).to.deep.include({ kind: "reset", requestSent: true });
        }
        client.close();
        client = createClient();
      }
    });

    it("a request after a GOAWAY on an idle connection uses a new one", async () => {
      const warm = exchange(client, backend.port);
      const peer = await backend.accept();
      peer.send(settings);
      await peer.ofType(frameTypes.headers);
      serve(peer);
      await warm.settled;
      peer.send(goaway(1, 0));
      await peer.when(() => (peer.frames.some((f) => f.type === frameTypes.goaway) ? true : undefined));
      const sent = exchange(client, backend.port, { method: "POST" });
      const fresh = await backend.accept();
      fresh.send(settings);
      await fresh.ofType(frameTypes.headers);
      serve(fresh);
      expect((await sent.settled).connections).to.deep.equal([false]);
    });
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
