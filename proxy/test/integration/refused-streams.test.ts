import { connect as connectHttp2, type ClientHttp2Stream } from "node:http2";
import { expect } from "chai";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { field, flags, frame, frameTypes, RawPeer, uint32 } from "../http/h2/frames.ts";
import { eventually, exchange, startGateway, startTcp, type Gateway, type Plan } from "./gateway.ts";

const host = "a.test";
/** Refuses the stream; what else a server does before that is given. */
const refusals = {
  REFUSED_STREAM: (id: number) => frame(frameTypes.rstStream, 0, id, uint32(7)),
  GOAWAY: () => frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(0), uint32(0)])),
} as const;
const answer = (id: number, text: string): Buffer =>
  Buffer.concat([
    frame(
      frameTypes.headers,
      flags.endHeaders,
      id,
      Buffer.concat([field(":status", "200"), field("content-type", "application/grpc")]),
    ),
    frame(frameTypes.data, 0, id, Buffer.from(text)),
    frame(frameTypes.headers, flags.endHeaders | flags.endStream, id, field("grpc-status", "0")),
  ]);

describeHttp2Codecs("streams that an HTTP/2 backend has not processed, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  let peers: RawPeer[];
  let gateway: Gateway;
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  const isBody = (one: { type: number }): boolean => one.type === frameTypes.data;
  const bodyOf = (peer: RawPeer | undefined): string =>
    Buffer.concat(peer?.frames.filter(isBody).map(({ payload }) => payload) ?? []).toString("latin1");
  const isEnded = (peer: RawPeer): boolean =>
    peer.frames.some(
      (one) => (isBody(one) || one.type === frameTypes.headers) && (one.flags & flags.endStream) !== 0,
    );

  /** A backend whose connections are driven by `onFrames`, called after each read. */
  const start = async (
    onFrames: (peer: RawPeer, index: number) => void,
    plan: Partial<Plan> = {},
  ): Promise<void> => {
    peers = [];
    const server = await startTcp((socket) => {
      const peer = new RawPeer(socket, { asServer: true });
      const index = peers.push(peer) - 1;
      const window = frame(frameTypes.windowUpdate, 0, 0, uint32(1 << 24));
      peer.send(frame(frameTypes.settings, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(1 << 24)])), window);
      socket.on("data", () => onFrames(peer, index));
    });
    closing.push(server);
    gateway = await startGateway({ ports: [server.port], protocol: "http2", hosts: [host], ...plan });
    closing.push(gateway);
  };

  /** Refuses on the first `times` connections once `isDue`, and answers on the others when the request is complete. */
  const refusing = (
    refusal: keyof typeof refusals,
    { times = 1, isDue = isEnded }: { times?: number; isDue?: (peer: RawPeer) => boolean } = {},
  ): ((peer: RawPeer, index: number) => void) => {
    const done = new Set<RawPeer>();
    return (peer, index) => {
      if (done.has(peer) || !(index < times ? isDue(peer) : isEnded(peer))) return;
      done.add(peer);
      if (index >= times) return peer.send(answer(1, "served"));
      peer.send(refusals[refusal](1));
    };
  };

  const post = (body: string): string =>
    `POST / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  /** A gRPC call whose messages the test writes. */
  const call = (): {
    stream: ClientHttp2Stream;
    done: Promise<{ status: unknown; grpc: unknown; body: string }>;
  } => {
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => {});
    const stream = session.request({
      ...{ ":method": "POST", ":path": "/pkg.Service/Method", ":authority": host },
      ...{ "content-type": "application/grpc", te: "trailers" },
    });
    const seen = { status: undefined as unknown, grpc: undefined as unknown, body: "" };
    stream.on("error", () => {});
    stream.on("response", (headers) => {
      seen.status = headers[":status"];
      seen.grpc = headers["grpc-status"];
    });
    stream.on("trailers", (trailers) => (seen.grpc = trailers["grpc-status"]));
    stream.on("data", (piece: Buffer) => (seen.body += piece.toString("latin1")));
    const done = new Promise<typeof seen>((resolve) =>
      stream.on("close", () => {
        session.destroy();
        resolve(seen);
      }),
    );
    return { stream, done };
  };

  const retried = (): number =>
    gateway.metrics.upstreamRetries.with({
      ...{ listener: "80", route: "ingress/ns/web:0.0" },
      ...{ upstream: "ns/web", condition: "refused-stream" },
    }).value;

  for (const refusal of Object.keys(refusals) as (keyof typeof refusals)[]) {
    for (const [what, body] of [
      ["a small body", "hello"],
      ["a body of 60 KiB", "b".repeat(61_440)],
    ] as const) {
      it(`a POST over HTTP/1 with ${what} is sent once more after ${refusal}`, async () => {
        await start(refusing(refusal));
        const response = await exchange(gateway.port, post(body));
        expect(response).to.match(/^HTTP\/1\.1 200 [^]*served/);
        expect([peers.length, bodyOf(peers[1]) === body]).to.deep.equal([2, true]);
        await eventually(() => gateway.records.length === 1);
        const { status, attempts, error } = gateway.records[0] ?? {};
        expect([status, attempts, error, retried()]).to.deep.equal([200, 2, undefined, 1]);
      });
    }

    it(`a unary gRPC call is sent once more after ${refusal}`, async () => {
      await start(refusing(refusal));
      const { stream, done } = call();
      stream.end("message");
      expect(await done).to.deep.equal({ status: 200, grpc: "0", body: "served" });
      expect(peers.map((peer) => bodyOf(peer))).to.deep.equal(["message", "message"]);
    });

    it(`a streaming gRPC call is sent once more from its first message after ${refusal}`, async () => {
      await start(refusing(refusal, { isDue: (peer) => bodyOf(peer) === "one," }));
      const { stream, done } = call();
      stream.write("one,");
      await eventually(() => peers.length === 2 && bodyOf(peers[1]) === "one,");
      stream.write("two,");
      await eventually(() => bodyOf(peers[1]) === "one,two,");
      stream.end("three");
      expect(await done).to.deep.equal({ status: 200, grpc: "0", body: "served" });
      expect(bodyOf(peers[1])).to.equal("one,two,three");
    });

    it(`a request loses no byte that its client sends while the new connection after ${refusal} is opened`, async () => {
      const text = Array.from({ length: 12_000 }, (_, index) => `${index},`)
        .join("")
        .slice(0, 60_000);
      await start(refusing(refusal, { isDue: (peer) => bodyOf(peer).length > 1000 }));
      const { stream, done } = call();
      for (let at = 0; at < text.length; at += 997) {
        stream.write(text.slice(at, at + 997));
        await new Promise((resolve) => setImmediate(resolve));
      }
      stream.end();
      expect((await done).body).to.equal("served");
      expect(bodyOf(peers[1]) === text).to.equal(true);
    });

    it(`a request fails after ${refusal} when more of its body was sent than is kept`, async () => {
      const body = "b".repeat(200_000);
      await start(refusing(refusal, { isDue: (peer) => bodyOf(peer).length > 100_000 }));
      expect(await exchange(gateway.port, post(body))).to.match(/^HTTP\/1\.1 502 /);
      expect(peers).to.have.length(1);
      await eventually(() => gateway.records.length === 1);
      expect([gateway.records[0]?.attempts, gateway.records[0]?.error, retried()]).to.deep.equal([
        1,
        "stream refused",
        0,
      ]);
    });

    it(`a large body of which little has been read is sent once more after ${refusal}`, async () => {
      const body = "c".repeat(500_000);
      await start(
        refusing(refusal, { isDue: (peer) => peer.frames.some(({ type }) => type === frameTypes.headers) }),
      );
      const { stream, done } = call();
      stream.write(body.slice(0, 10));
      await eventually(() => peers.length === 2);
      stream.end(body.slice(10));
      expect((await done).body).to.equal("served");
      expect(bodyOf(peers[1]) === body).to.equal(true);
    });

    it(`a request fails after the second ${refusal}`, async () => {
      await start(refusing(refusal, { times: 2 }));
      expect(await exchange(gateway.port, post("hello"))).to.match(/^HTTP\/1\.1 502 /);
      expect(peers).to.have.length(2);
    });

    it(`a request follows the route's retries after the second ${refusal}`, async () => {
      const answered = new Set<string>();
      const bodies: string[] = [];
      await start(
        (peer, index) => {
          // A retry of the route may use a connection that has refused another stream.
          for (const { streamId, payload } of peer.frames.filter(isBody)) {
            const key = `${index}/${streamId}`;
            if (answered.has(key)) continue;
            answered.add(key);
            bodies.push(payload.toString("latin1"));
            peer.send(answered.size <= 2 ? refusals[refusal](streamId) : answer(streamId, "served"));
          }
        },
        { features: { retry: { attempts: 1, codes: [] } } },
      );
      expect(await exchange(gateway.port, post("hello"))).to.match(/^HTTP\/1\.1 200 /);
      expect(bodies).to.deep.equal(["hello", "hello", "hello"]);
      await eventually(() => gateway.records.length === 1);
      expect([gateway.records[0]?.attempts, retried()]).to.deep.equal([3, 1]);
    });
  }

  it("a stream that is reset with another code is not sent again", async () => {
    const done = new Set<RawPeer>();
    await start((peer) => {
      if (done.has(peer) || !isEnded(peer)) return;
      done.add(peer);
      peer.send(frame(frameTypes.rstStream, 0, 1, uint32(2)));
    });
    expect(await exchange(gateway.port, post("hello"))).to.match(/^HTTP\/1\.1 502 /);
    expect(peers).to.have.length(1);
  });

  it("a refused request is dropped when its client leaves before the new connection is open", async () => {
    let refused = false;
    await start((peer, index) => {
      if (index > 0 || refused || bodyOf(peer) === "") return;
      refused = true;
      peer.send(refusals.REFUSED_STREAM(1));
    });
    const { stream, done } = call();
    stream.write("one");
    await eventually(() => retried() === 1);
    stream.close(8);
    await done;
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]?.status).to.equal(499);
  });
});
