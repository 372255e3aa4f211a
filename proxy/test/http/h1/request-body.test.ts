import { expect } from "chai";
import type { Chunk, ClientStream, RequestBody } from "../../../src/message/message.ts";
import { isLent } from "../../../src/sockets/read-buffer.ts";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import {
  answer,
  bodyOf,
  CollectingSink,
  eventually,
  type FrontUnderTest,
  startFront,
  statusesOf,
  stopAll,
} from "./harness.ts";

const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** More bytes than the buffers of the operating system hold. */
const large = 30_000_000;

describeCodecs("the HTTP/1 front: request bodies", () => {
  afterEach(stopAll);

  /** Starts a front that reads each body immediately and answers with it. */
  const startEcho = (limits = {}): Promise<FrontUnderTest> =>
    startFront((_, _head, client) => {
      if (client.body === null) return answer(client, "no body");
      const sink = new CollectingSink();
      sink.onComplete = () => answer(client, `${sink.text}|${JSON.stringify(sink.trailers)}`);
      client.body.start(sink);
    }, limits);

  const cases: readonly (readonly [string, string, string])[] = [
    ["no body", "\r\n", "no body"],
    ["a length", "Content-Length: 5\r\n\r\nhello", "hello|undefined"],
    ["a length of zero", "Content-Length: 0\r\n\r\n", "|undefined"],
    ["chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello|undefined"],
    ["empty chunks", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "|undefined"],
    [
      "chunks with trailers",
      "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\nx-t: 2\r\n\r\n",
      'a|["X-T","1","x-t","2"]',
    ],
  ];
  for (const [name, rest, expected] of cases) {
    it(`a request with ${name} is delivered, and so is the next request`, async () => {
      const { connect } = await startEcho();
      const client = await connect();
      client.send(`POST / HTTP/1.1\r\nHost: a\r\n${rest}${get}`);
      const text = await client.until(/200[^]*200[^]*no body$/);
      expect(bodyOf(text).startsWith(expected)).to.equal(true);
    });

    it(`a request with ${name} that arrives byte by byte is delivered`, async () => {
      const { connect } = await startEcho();
      const client = await connect();
      for (const byte of `POST / HTTP/1.1\r\nHost: a\r\n${rest}`) {
        client.send(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => bodyOf(client.text) === expected);
    });
  }

  for (const when of ["in the turn of its head", "later"]) {
    it(`a request body that is started ${when} keeps its bytes while others are read, unless its sink takes views`, async () => {
      const pieces: { readonly kept: boolean; readonly chunk: Chunk }[] = [];
      const { connect } = await startFront((_, { target }, client) => {
        if (client.body === null) return answer(client);
        const kept = target === "/kept";
        const start = (): void =>
          client.body?.start({
            takesViews: !kept,
            onData(chunk) {
              pieces.push({ kept, chunk });
              const bytes = Buffer.from(chunk as Buffer);
              expect(bytes.equals(Buffer.alloc(20_000, "b"))).to.equal(true);
              return true;
            },
            onEnd: () => answer(client),
            onAbort: () => undefined,
          });
        if (when === "later") setImmediate(start);
        else start();
      });
      const client = await connect();
      for (const target of ["/kept", "/view"]) {
        client.send(
          `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n${"b".repeat(20_000)}`,
        );
        const other = await connect();
        other.send(`GET /${"x".repeat(15_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
        await other.until(/hello$/);
        await eventually(() => pieces.length > 0);
        await client.until(target === "/kept" ? /hello$/ : /hello[^]*hello$/);
      }
      const whole = Buffer.concat(
        pieces.filter(({ kept }) => kept).map(({ chunk }) => Buffer.from(chunk as Buffer)),
      );
      expect(whole.equals(Buffer.alloc(20_000, "b"))).to.equal(true);
      for (const { kept, chunk } of pieces) {
        if (kept) expect(isLent(chunk as Buffer)).to.equal(false);
      }
    });
  }

  it("a request body has the length that Content-Length declares, or none", async () => {
    const lengths: (number | undefined)[] = [];
    const { connect } = await startFront((_, _head, client) => {
      lengths.push(client.body?.length);
      answer(client);
    });
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
    await client.until(/hello$/);
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    await client.until(/hello[^]*hello$/);
    expect(lengths).to.deep.equal([3, undefined]);
  });

  it("a request body is not read beyond its buffer before it is started", async () => {
    let body: RequestBody | null = null;
    const { connect, sockets } = await startFront((_, _head, client) => {
      body = client.body;
    });
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n");
    const flood = sendUntilBlocked(client.socket);
    await flood.blocked;
    expect(body).not.to.equal(null);
    expect(sockets[0]?.bytesRead).to.be.below(256 * 1024);
    flood.stop();
  });

  it("a request body is not read beyond its buffer while the sink is paused, and continues where it stopped", async () => {
    const sink = new CollectingSink();
    let body: RequestBody | null = null;
    const { connect, sockets } = await startFront((_, _head, client) => {
      ({ body } = client);
      sink.accept = false;
      sink.onComplete = () => answer(client);
      client.body?.start(sink);
    });
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n");
    const flood = sendUntilBlocked(client.socket, 8_000_000);
    await flood.blocked;
    expect(sink.bytes).to.be.below(128 * 1024);
    expect(sockets[0]?.bytesRead).to.be.below(256 * 1024);
    sink.accept = true;
    (body as RequestBody | null)?.resume();
    await client.until(/hello$/);
    expect(sink.bytes).to.equal(8_000_000);
  });

  describe("that ends too early", () => {
    it("a client that disconnects inside a body is reported to the sink and the exchange", async () => {
      const sink = new CollectingSink();
      const closes: string[] = [];
      const { connect } = await startFront((_, _head, client) => {
        client.onClose = (reason) => closes.push(reason);
        client.body?.start(sink);
      });
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
      await eventually(() => sink.text === "abc");
      client.socket.destroy();
      await eventually(() => sink.aborted !== undefined);
      expect(sink.aborted).to.equal("client-closed");
      expect(closes).to.deep.equal(["client-closed"]);
    });

    it("a half-close inside a body counts as a disconnect", async () => {
      const closes: string[] = [];
      const { connect, front } = await startFront((_, _head, client) => {
        client.onClose = (reason) => closes.push(reason);
      });
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      client.socket.end();
      await eventually(() => front.connections === 0);
      expect(closes).to.deep.equal(["client-closed"]);
    });

    it("the body timeout aborts a request body, and the handler still sends the response", async () => {
      const { connect, events } = await startFront(
        (_, _head, client) => {
          const sink = new CollectingSink();
          sink.onAborted = () => answer(client, `aborted: ${sink.aborted}`);
          client.body?.start(sink);
        },
        { bodyTimeoutMs: 60 },
      );
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nabc");
      expect(await client.untilEnd()).to.match(/\r\nConnection: close\r\n[^]*aborted: timeout$/);
      expect(events.map((event) => event.reason)).to.deep.equal(["body-timeout"]);
    });

    describe("by a limit of time", () => {
      const clock = holdClock();

      it("the body timeout does not count the time while the sink is paused", async () => {
        const sink = new CollectingSink();
        let body: RequestBody | null = null;
        const { connect, sockets, front } = await startFront(
          (_, _head, client) => {
            sink.accept = false;
            ({ body } = client);
            sink.onComplete = () => answer(client);
            sink.onAborted = () => answer(client, "aborted");
            client.body?.start(sink);
          },
          // A silent connection is closed after the idle timeout, which shows that enough time has passed.
          { bodyTimeoutMs: 60, idleTimeoutMs: 60, headerTimeoutMs: 240 },
        );
        const client = await connect();
        client.send("POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc");
        await eventually(() => sink.text === "abc");
        const idle = await connect();
        await eventually(() => front.connections === 2);
        await clock.passing(idle.untilEnd());
        const before = sockets[0]?.bytesRead ?? 0;
        client.send("def");
        await eventually(() => sockets[0]?.bytesRead === before + 3);
        sink.accept = true;
        (body as RequestBody | null)?.resume();
        expect(bodyOf(await client.until(/(hello|aborted)$/))).to.equal("hello");
      });
    });
  });

  describe("that the response does not wait for", () => {
    // A slow machine also reads the rest of a body slowly, and the front allows only seconds for that.
    const clock = holdClock();

    const startDeaf = (respond: (client: ClientStream) => void = answer): Promise<FrontUnderTest> =>
      startFront((_, _head, client) => respond(client));

    it("a small unread rest of a body is skipped and the connection is kept", async () => {
      const { connect } = await startDeaf();
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\nabc");
      await client.until(/hello$/);
      client.send("d".repeat(59_997) + get);
      const text = await client.until(/hello[^]*hello$/);
      expect(text).not.to.contain("Connection: close");
    });

    it("a small rest of a body that was partly read is skipped and the connection is kept", async () => {
      const { connect } = await startDeaf((client) => {
        if (client.body === null) return answer(client);
        const sink = new CollectingSink();
        sink.accept = false;
        client.body.start(sink);
        void eventually(() => sink.bytes > 0).then(() => answer(client));
      });
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\nabc");
      await client.until(/hello$/);
      client.send("d".repeat(59_997) + get);
      await client.until(/hello[^]*hello$/);
    });

    it("the connection is closed when the small unread rest of a body does not arrive", async () => {
      const { connect } = await startFront((_, _head, client) => answer(client), { bodyTimeoutMs: 40 });
      const client = await connect();
      client.send("POST / HTTP/1.1\r\nContent-Length: 60000\r\n\r\nabc");
      expect(await clock.passing(client.untilEnd())).not.to.contain("Connection: close");
    });

    for (const [name, framing] of [
      ["a large rest", `Content-Length: ${large}`],
      ["chunks", "Transfer-Encoding: chunked"],
    ] as const) {
      it(`a client that keeps sending ${name} gets the whole response before the connection is closed`, async () => {
        const { connect } = await startDeaf();
        const client = await connect();
        client.send(`POST / HTTP/1.1\r\n${framing}\r\n\r\n`);
        const size = framing.startsWith("C") ? "" : `${large.toString(16)}\r\n`;
        const data = size + "x".repeat(large);
        const sent = new Promise((resolve) => client.socket.write(data, resolve));
        const text = await client.untilEnd();
        await sent;
        client.socket.end();
        await eventually(() => client.closed);
        expect(text).to.match(/\r\nConnection: close\r\n[^]*hello$/);
        expect(client.errorCode).to.equal(undefined);
      });
    }

    it("a response that is sent in the middle of a large body reaches the client", async () => {
      const { connect } = await startDeaf((client) => {
        const sink = new CollectingSink();
        client.body?.start({
          onData(chunk) {
            sink.onData(chunk);
            if (sink.bytes > 100_000) answer(client, "too large");
            return false;
          },
          onEnd: () => {},
          onAbort: () => {},
        });
        const timer = setInterval(() => client.body?.resume(), 1);
        client.onClose = () => clearInterval(timer);
        void eventually(() => client.headSent).then(() => clearInterval(timer));
      });
      const client = await connect();
      client.send(`POST / HTTP/1.1\r\nContent-Length: ${large}\r\n\r\n`);
      const sent = new Promise((resolve) => client.socket.write("x".repeat(large - 1), resolve));
      expect(await client.untilEnd()).to.match(/too large$/);
      await sent;
      expect(client.errorCode).to.equal(undefined);
    });
  });

  describe("with Expect: 100-continue", () => {
    const expecting = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";

    it("an Expect: 100-continue gets 100 only when the handler sends it, and the connection is kept", async () => {
      const seen: string[] = [];
      const { connect } = await startFront((_, head, client) => {
        seen.push(head.headers.first("expect") ?? "");
        const sink = new CollectingSink();
        sink.onComplete = () => answer(client, sink.text);
        setImmediate(() => {
          client.sendInformational(100, []);
          client.body?.start(sink);
        });
      });
      const client = await connect();
      client.send(expecting);
      expect(await client.until(/\r\n\r\n$/)).to.equal("HTTP/1.1 100 Continue\r\n\r\n");
      client.send("hello");
      expect(await client.until(/hello$/)).not.to.contain("Connection: close");
      expect(seen).to.deep.equal(["100-continue"]);
    });

    it("a final response without 100 closes the connection, because the body may or may not follow", async () => {
      const { connect } = await startFront((_, _head, client) => answer(client));
      const client = await connect();
      client.send(expecting);
      const text = await client.untilEnd();
      expect(statusesOf(text)).to.deep.equal(["200"]);
      expect(text).to.contain("\r\nConnection: close\r\n");
    });

    it("an unknown expectation reaches the handler", async () => {
      const { connect } = await startFront((_, head, client) => answer(client, head.headers.toList().join()));
      const client = await connect();
      client.send("GET / HTTP/1.1\r\nExpect: gold\r\n\r\n");
      expect(await client.until(/gold$/)).to.match(/Expect,gold$/);
    });
  });
});

/** Writes until the operating system accepts no more; `blocked` resolves when the other side has stopped reading. */
function sendUntilBlocked(
  socket: import("node:net").Socket,
  limit = Number.POSITIVE_INFINITY,
): { readonly blocked: Promise<void>; stop(): void } {
  const piece = Buffer.alloc(50_000, "x");
  let stopped = false;
  let sent = 0;
  let acknowledged = 0;
  const send = (): void => {
    while (!stopped && sent < limit) {
      const size = Math.min(piece.length, limit - sent);
      sent += size;
      if (!socket.write(piece.subarray(0, size), () => (acknowledged += size))) return;
    }
  };
  socket.on("drain", send);
  send();
  const blocked = (async () => {
    let last = -1;
    let still = 0;
    while (still < 20) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      still = last === acknowledged ? still + 1 : 0;
      last = acknowledged;
    }
  })();
  return {
    blocked,
    stop() {
      stopped = true;
    },
  };
}
