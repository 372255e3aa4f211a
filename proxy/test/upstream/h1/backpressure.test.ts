import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import type { Chunk } from "../../../src/message/message.ts";
import { SocketTransport } from "../../../src/sockets/socket-transport.ts";
import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import { RequestBodyWriter } from "../../../src/upstream/h1/request-body-writer.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { describeSocketLayers } from "../../socket-layers.ts";
import { clientOptions, getRequest, ManualBody, RawServer, Recorder, until } from "../support.ts";

/** The largest number of bytes held per stream and direction for a slow peer (docs/features/upstream.md, "Memory"). */
const maxHeldBytes = 262_144;
/** The number of bytes that a front holds before it requests a pause. */
const frontMarkBytes = 65_536;

const pattern = Buffer.from(Array.from({ length: 65_521 }, (_, index) => (index * 7) % 251));
const bodyOf = (size: number): Buffer => Buffer.alloc(size, pattern);

/** A receiver like a front: holds the bytes that its client has not accepted, and requests a pause at its mark. */
class SlowReceiver extends Recorder {
  readonly taken: Buffer[] = [];
  heldBytes = 0;
  maxHeldBytes = 0;
  private readonly held: Chunk[] = [];
  private readonly takes: (piece: Chunk) => boolean;

  constructor(takes: (piece: Chunk) => boolean) {
    super();
    this.takes = takes;
  }

  get pendingBytes(): number {
    return this.heldBytes;
  }

  override onData(piece: Chunk): boolean {
    this.receivedBytes += piece.length;
    this.held.push(piece);
    this.heldBytes += piece.length;
    if (this.takes(piece)) this.drain();
    this.maxHeldBytes = Math.max(this.maxHeldBytes, this.heldBytes);
    return this.heldBytes < frontMarkBytes;
  }

  /** The client takes all that is held: only now does it see the bytes. */
  drain(): void {
    for (const piece of this.held.splice(0)) {
      this.taken.push(typeof piece === "string" ? Buffer.from(piece, "latin1") : Buffer.from(piece));
    }
    this.heldBytes = 0;
  }
}

describeSocketLayers("backpressure towards the upstream client", () => {
  let client: UpstreamClient;
  let server: RawServer;

  beforeEach(() => {
    client = createHttp1UpstreamClient(clientOptions());
  });
  afterEach(() => {
    client.close();
    server.close();
  });

  const serving = async (body: Buffer, framing: "length" | "chunked"): Promise<void> => {
    server = await RawServer.start((peer) => {
      peer.onData = () => {
        peer.onData = undefined;
        const field = framing === "length" ? `Content-Length: ${body.length}` : "Transfer-Encoding: chunked";
        peer.write(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`);
        if (framing === "chunked") peer.write(`${body.length.toString(16)}\r\n`);
        peer.socket.write(body);
        if (framing === "chunked") peer.write("\r\n0\r\n\r\n");
      };
    });
  };

  /** A complete exchange on another connection: enough turns for anything that was on its way. */
  const another = async (): Promise<void> => {
    const recorder = new Recorder();
    const side = await RawServer.start((peer) => {
      peer.onData = () => peer.write("HTTP/1.1 204 x\r\n\r\n");
    });
    client.send(side.endpoint, getRequest(), recorder);
    await recorder.done;
    side.close();
  };

  for (const framing of ["length", "chunked"] as const) {
    it(`a receiver that never takes anything is sent little (${framing})`, async () => {
      const body = bodyOf(16_000_000);
      await serving(body, framing);
      const receiver = new SlowReceiver(() => false);
      const stream = client.send(server.endpoint, getRequest(), receiver);
      await until(() => receiver.heldBytes >= frontMarkBytes);
      for (let i = 0; i < 5; i++) await another();
      expect(receiver.receivedBytes).to.be.at.most(2 * frontMarkBytes);
      stream.abort();
    });

    it(`a fast receiver that stops taking data holds at most the limit (${framing})`, async () => {
      const body = bodyOf(32_000_000);
      await serving(body, framing);
      const receiver: SlowReceiver = new SlowReceiver(() => receiver.receivedBytes < 8_000_000);
      const stream = client.send(server.endpoint, getRequest(), receiver);
      await until(() => receiver.heldBytes >= frontMarkBytes);
      for (let i = 0; i < 5; i++) await another();
      expect(receiver.maxHeldBytes).to.be.at.most(maxHeldBytes);
      receiver.drain();
      stream.resume();
      await until(() => receiver.heldBytes >= frontMarkBytes);
      receiver.drain();
      const seen = Buffer.concat(receiver.taken);
      expect(seen.equals(body.subarray(0, seen.length))).to.equal(true);
      stream.abort();
    });
  }

  it("a declined upgrade keeps to the limit on held bytes", async () => {
    const body = bodyOf(16_000_000);
    await serving(body, "length");
    const receiver = new SlowReceiver(() => false);
    const stream = client.send(server.endpoint, getRequest({ upgrade: "websocket" }), receiver);
    await until(() => receiver.heldBytes >= frontMarkBytes);
    for (let i = 0; i < 5; i++) await another();
    expect(receiver.receivedBytes).to.be.at.most(maxHeldBytes);
    receiver.drain();
    stream.resume();
    await until(() => receiver.heldBytes >= frontMarkBytes);
    stream.abort();
  });

  it("a receiver that does not report what it holds gets memory of its own", async () => {
    const body = bodyOf(4_000_000);
    await serving(body, "length");
    const recorder = new Recorder();
    client.send(server.endpoint, getRequest(), recorder);
    await recorder.done;
    const seen = Buffer.concat(recorder.pieces.map((piece) => Buffer.from(piece as string, "latin1")));
    expect(seen.equals(body)).to.equal(true);
  });

  it("bytes do not change while they are held, in any pattern of pauses and resumes", async () => {
    const body = bodyOf(3_000_000);
    await serving(body, "length");
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(3)), async (choices) => {
        const next = (): number => choices.next().value as number;
        const receiver = new SlowReceiver(() => next() > 0);
        const stream = client.send(server.endpoint, getRequest(), receiver);
        let ended = false;
        void receiver.done.then(() => (ended = true));
        while (!ended) {
          await until(() => ended || receiver.heldBytes >= frontMarkBytes);
          receiver.drain();
          stream.resume();
        }
        receiver.drain();
        expect(receiver.ends).to.deep.equal(["end"]);
        expect(Buffer.concat(receiver.taken).equals(body)).to.equal(true);
        expect(receiver.maxHeldBytes).to.be.at.most(maxHeldBytes);
        client.close();
        client = createHttp1UpstreamClient(clientOptions());
        server.peers.splice(0);
      }),
      { numRuns: 10 },
    );
  });

  it("an upstream that stops reading pauses the request body, which resumes when it reads again", async () => {
    server = await RawServer.start();
    server.close();
    server = await RawServer.start((peer) => peer.socket.pause());
    const recorder = new Recorder();
    const body = new ManualBody(undefined);
    const stream = client.send(server.endpoint, getRequest({ method: "POST", body }), recorder);
    await until(() => body.started);
    const piece = Buffer.alloc(65_536, "x");
    // Until nothing is taken any more: the system may find room for more at first.
    let resumed = -1;
    while (resumed !== body.resumes) {
      resumed = body.resumes;
      await until(() => !body.push(piece));
      for (let i = 0; i < 5; i++) await another();
    }
    (await server.peer(0)).socket.resume();
    await until(() => body.resumes > resumed);
    stream.abort();
  });
});

/** A transport whose writes go to a stream of the test. */
const transportOf = (socket: Writable): SocketTransport =>
  new SocketTransport(socket as unknown as Socket, { readsIntoMemory: true });

describe("RequestBodyWriter", () => {
  for (const length of [undefined, 10_000_000]) {
    it(`RequestBodyWriter holds at most its mark and one piece (${length === undefined ? "chunked" : "length"})`, () => {
      const socket = new Writable({ highWaterMark: 65_536, decodeStrings: false, write: () => undefined });
      const body = new ManualBody(length);
      const writer = new RequestBodyWriter(transportOf(socket), "HEAD\r\n\r\n", body, {
        onBodyFailed: (text) => expect.fail(text),
      });
      writer.start({ expectContinue: false });
      let pieces = 0;
      while (body.push(Buffer.alloc(16_384))) pieces++;
      expect(pieces).to.equal(3);
      expect(socket.writableLength).to.be.within(65_536, 65_536 + 200);
      expect(writer.complete).to.equal(false);
      socket.destroy();
    });
  }

  it("RequestBodyWriter holds a few pieces, however small they are, and goes on when the socket has taken them", async () => {
    const written: string[] = [];
    let take: () => void = () => undefined;
    const socket = new Writable({
      highWaterMark: 65_536,
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        written.push(chunk);
        take = done;
      },
    });
    const body = new ManualBody(10_000);
    const transport = transportOf(socket);
    const writer = new RequestBodyWriter(transport, "HEAD\r\n\r\n", body, {
      onBodyFailed: (text) => expect.fail(text),
    });
    const unused = (): never => expect.fail("nothing but writes");
    transport.start({ receive: unused, ended: unused, closed: () => {}, taken: () => writer.drained() });
    writer.start({ expectContinue: false });
    let pieces = 1;
    while (body.push("x")) {
      pieces++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(pieces).to.be.within(32, 128);
    expect(body.resumes).to.equal(0);
    while (body.resumes === 0) {
      take();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written.join("")).to.equal(`HEAD\r\n\r\n${"x".repeat(pieces)}`);
    expect(body.push("x")).to.equal(true);
    socket.destroy();
  });
});
