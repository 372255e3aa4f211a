import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type ServerHttp2Stream,
} from "node:http2";
import { once } from "node:events";
import { expect } from "chai";
import { describeHttp2Codecs, http2Codec } from "../../http2-codecs.ts";
import type { RequestHandler } from "../../../src/http/front.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { answerOf, type FrontServer, openSession, startFront, until } from "../../http/h2/support.ts";
import { type Backend, createClient, endpointOf, startBackend } from "./support.ts";

/** Front and upstream client joined without a pipeline: bytes and trailers both ways. */
const relay =
  (client: UpstreamClient, port: () => number): RequestHandler =>
  (_connection, head, downstream) => {
    const upstream = client.send(
      endpointOf(port()),
      {
        protocol: "http2",
        method: head.method,
        target: head.target,
        authority: head.authority ?? "",
        scheme: "http",
        headers: head.headers,
        body: downstream.body,
        upgrade: undefined,
        expectContinue: false,
      },
      {
        onConnection: () => undefined,
        onInformational: (status, headers) => downstream.sendInformational(status, headers),
        onHead: (response) => downstream.sendHead(response),
        onData: (chunk) => downstream.write(chunk),
        onEnd: (trailers) => downstream.end(trailers),
        onUpgrade: () => undefined,
        onError: () => downstream.abort(),
      },
    );
    downstream.onDrain = () => upstream.resume();
    downstream.onClose = () => upstream.abort();
  };

/** A gRPC message: flag, length, payload. */
const message = (text: string): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(text.length, 1);
  return Buffer.concat([prefix, Buffer.from(text)]);
};

const grpcHead = { ":status": 200, "content-type": "application/grpc" } as const;

describeHttp2Codecs("gRPC through front and upstream client", () => {
  let client: UpstreamClient;
  let backend: Backend;
  let server: FrontServer;
  let session: ClientHttp2Session;
  let serve: (stream: ServerHttp2Stream) => void;
  const headersSeen: Readonly<Record<string, unknown>>[] = [];

  beforeEach(async () => {
    headersSeen.length = 0;
    client = createClient();
    backend = await startBackend((stream, headers) => {
      headersSeen.push(headers);
      serve(stream);
    });
    server = await startFront(
      http2Codec(),
      relay(client, () => backend.port),
    );
    session = openSession(server.url);
  });
  afterEach(async () => {
    session.destroy();
    await server.close();
    client.close();
    await backend.close();
  });

  const call = (fields: Record<string, string> = {}): ClientHttp2Stream =>
    session.request({
      ":method": "POST",
      ":path": "/pkg.Service/Method",
      "content-type": "application/grpc",
      te: "trailers",
      ...fields,
    });

  const finish = (stream: ServerHttp2Stream, status: string): void => {
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status, "grpc-message": "m" }));
    stream.end();
  };

  it("a unary gRPC call returns its message and trailers", async () => {
    serve = (stream) => {
      let received = "";
      stream.on("data", (chunk) => (received += String(chunk)));
      stream.on("end", () => {
        stream.respond(grpcHead, { waitForTrailers: true });
        stream.write(message(`echo ${received.slice(5)}`));
        finish(stream, "0");
      });
    };
    const stream = call();
    stream.end(message("hello"));
    const { status, body, trailers, rstCode } = await answerOf(stream);
    expect(status).to.equal(200);
    expect(body.slice(5)).to.equal("echo hello");
    expect(trailers).to.deep.include({ "grpc-status": "0", "grpc-message": "m" });
    expect(rstCode).to.equal(0);
    expect(headersSeen[0]).to.deep.include({ te: "trailers", "content-type": "application/grpc" });
  });

  it("server-streaming messages of gRPC arrive one by one", async () => {
    let backendStream: ServerHttp2Stream | undefined;
    serve = (stream) => {
      backendStream = stream;
      stream.resume();
      stream.respond(grpcHead, { waitForTrailers: true });
    };
    const stream = call();
    stream.end(message("go"));
    const answer = answerOf(stream);
    await until(() => backendStream !== undefined);
    for (let i = 0; i < 5; i++) {
      const arrived = once(stream, "data");
      backendStream?.write(message(`m${i}`));
      expect(String((await arrived)[0])).to.include(`m${i}`);
    }
    finish(backendStream as ServerHttp2Stream, "0");
    expect((await answer).trailers).to.deep.include({ "grpc-status": "0" });
  });

  it("a client-streaming gRPC call is delivered completely", async () => {
    serve = (stream) => {
      let count = 0;
      stream.on("data", (chunk: Buffer) => (count += chunk.length));
      stream.on("end", () => {
        stream.respond(grpcHead, { waitForTrailers: true });
        stream.write(message(String(count)));
        finish(stream, "0");
      });
    };
    const stream = call();
    const answer = answerOf(stream);
    let sent = 0;
    for (let i = 0; i < 200; i++) {
      const bytes = message("x".repeat(i * 10));
      sent += bytes.length;
      if (!stream.write(bytes)) await once(stream, "drain");
    }
    stream.end();
    expect((await answer).body.slice(5)).to.equal(String(sent));
  });

  it("a bidirectional gRPC call is answered while the request is open", async () => {
    serve = (stream) => {
      stream.respond(grpcHead, { waitForTrailers: true });
      stream.on("data", (chunk: Buffer) => stream.write(chunk));
      stream.on("end", () => finish(stream, "0"));
    };
    const stream = call();
    const answer = answerOf(stream);
    await once(stream, "response");
    for (let i = 0; i < 10; i++) {
      const arrived = once(stream, "data");
      stream.write(message(`ping ${i}`));
      expect(String((await arrived)[0])).to.include(`ping ${i}`);
    }
    stream.end();
    expect((await answer).trailers).to.deep.include({ "grpc-status": "0" });
  });

  it("a trailers-only gRPC error reaches the client, even while it still sends", async () => {
    serve = (stream) => stream.respond({ ...grpcHead, "grpc-status": "16" }, { endStream: true });
    for (const ended of [true, false]) {
      const stream = call();
      if (ended) stream.end(message("hello"));
      else stream.write(message("hello"));
      let flags = 0;
      stream.on("response", (_headers, frameFlags) => (flags = frameFlags));
      const { headers, trailers, rstCode } = await answerOf(stream);
      expect(headers["grpc-status"]).to.equal("16");
      expect(trailers).to.equal(undefined);
      expect(flags & constants.NGHTTP2_FLAG_END_STREAM).to.equal(1);
      expect(rstCode).to.equal(0);
    }
  });

  it("a stream reset by the gRPC server reaches the client as a reset", async () => {
    serve = (stream) => {
      stream.respond(grpcHead, { waitForTrailers: true });
      stream.write(message("part"));
      stream.once("data", () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    };
    const stream = call();
    const answer = answerOf(stream);
    await once(stream, "data");
    stream.write(message("x"));
    const { complete, trailers } = await answer;
    expect(complete).to.equal(false);
    expect(trailers).to.equal(undefined);
  });

  it("a cancellation by the gRPC client reaches the server", async () => {
    let rstCode = -1;
    serve = (stream) => {
      stream.respond(grpcHead, { waitForTrailers: true });
      stream.resume();
      stream.on("close", () => (rstCode = stream.rstCode));
    };
    const stream = call();
    stream.on("error", () => undefined);
    await once(stream, "response");
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => rstCode >= 0);
    expect(rstCode).to.equal(constants.NGHTTP2_CANCEL);
  });

  it("many concurrent gRPC calls share one upstream connection", async () => {
    serve = (stream) => {
      stream.resume();
      stream.on("end", () => {
        stream.respond(grpcHead, { waitForTrailers: true });
        stream.write(message("ok"));
        finish(stream, "0");
      });
    };
    const calls = Array.from({ length: 90 }, () => {
      const stream = call();
      stream.end(message("hello"));
      return answerOf(stream);
    });
    for (const answer of await Promise.all(calls))
      expect(answer.trailers).to.deep.include({ "grpc-status": "0" });
    expect(backend.sessions).to.have.length(1);
  });

  it("a gRPC stream is not buffered for a slow receiver, in either direction", async () => {
    const size = 4_000_000;
    /** Writes as fast as backpressure allows. The returned function counts the bytes written so far. */
    const pump = (stream: ClientHttp2Stream | ServerHttp2Stream, done: () => void): (() => number) => {
      let sent = 0;
      const write = (): void => {
        while (sent < size) {
          sent += 16_384;
          if (!stream.write(Buffer.alloc(16_384, 97))) return;
        }
        stream.off("drain", write);
        done();
      };
      stream.on("drain", write);
      write();
      return () => sent;
    };
    let backendStream: ServerHttp2Stream | undefined;
    let sentDown = (): number => 0;
    let uploaded = false;
    serve = (stream) => {
      backendStream = stream;
      stream.pause();
      stream.respond(grpcHead, { waitForTrailers: true });
      sentDown = pump(stream, () => {
        if (uploaded) finish(stream, "0");
        else stream.on("end", () => finish(stream, "0"));
      });
    };
    const stream = call();
    stream.pause();
    await once(stream, "response");
    const sentUp = pump(stream, () => stream.end());
    // Until nothing moves any more: every buffer on the way is full.
    let before = -1;
    while (before !== sentUp() + sentDown()) {
      before = sentUp() + sentDown();
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    }
    // Both ends' own buffers and windows (4 x 64 KiB) included.
    expect(sentUp()).to.be.within(65_536, 512 * 1024);
    expect(sentDown()).to.be.within(65_536, 512 * 1024);
    let down = 0;
    let up = 0;
    backendStream?.on("data", (chunk: Buffer) => (up += chunk.length));
    backendStream?.on("end", () => (uploaded = true));
    stream.on("data", (chunk: Buffer) => (down += chunk.length));
    backendStream?.resume();
    stream.resume();
    await once(stream, "close");
    expect(down).to.equal(sentDown());
    expect(up).to.equal(sentUp());
  });
});
