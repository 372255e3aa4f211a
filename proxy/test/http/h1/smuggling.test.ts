import { expect } from "chai";
import type { ClientStream } from "../../../src/message/message.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, CollectingSink, eventually, startFront, statusesOf, stopAll } from "./harness.ts";

/**
 * Requests whose framing two parsers could read differently (RFC 9112 2.2, 5, 6, 11.2). Each is followed by a second
 * request, which must never be seen when the first is refused.
 */
const refused: readonly (readonly [string, string, number])[] = [
  [
    "Content-Length with Transfer-Encoding",
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  [
    "Transfer-Encoding with Content-Length",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    400,
  ],
  ["two equal lengths", "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400],
  ["two different lengths", "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400],
  ["a list of lengths", "Content-Length: 3, 3\r\n\r\nabc", 400],
  ["a signed length", "Content-Length: +3\r\n\r\nabc", 400],
  ["a negative length", "Content-Length: -3\r\n\r\nabc", 400],
  ["a hexadecimal length", "Content-Length: 0x3\r\n\r\nabc", 400],
  ["an empty length", "Content-Length:\r\n\r\n", 400],
  ["a length with a space", "Content-Length: 1 2\r\n\r\nabc", 400],
  ["a length beyond 2^53", "Content-Length: 9007199254740993\r\n\r\nabc", 400],
  ["a length beyond 2^64", "Content-Length: 99999999999999999999\r\n\r\nabc", 400],
  ["another coding", "Transfer-Encoding: gzip\r\n\r\n", 501],
  ["another coding before chunked", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501],
  ["another coding after chunked", "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 501],
  [
    "another coding in a second field",
    "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    501,
  ],
  ["chunked twice", "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501],
  ["chunked in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501],
  ["identity", "Transfer-Encoding: identity\r\n\r\n", 501],
  ["a coding like chunked", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501],
  ["a quoted chunked", 'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n', 501],
  ["a chunked with parameters", "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n", 501],
  ["an empty coding", "Transfer-Encoding:\r\n\r\n", 400],
  ["a vertical tab before the coding", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400],
  ["a space before the colon", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400],
  ["a tab before the colon", "X\t: a\r\n\r\n", 400],
  ["folding with a space", "X: a\r\n b\r\n\r\n", 400],
  ["folding with a tab", "X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n", 400],
  ["a bare LF after a field", "X: a\nY: b\r\n\r\n", 400],
  ["a bare LF at the end of the head", "X: a\r\n\n", 400],
  ["a bare CR in a value", "X: a\rb\r\n\r\n", 400],
  ["a bare CR before CRLF", "X: a\r\r\n\r\n", 400],
  ["NUL in a value", "X: a\0b\r\n\r\n", 400],
  ["a control character in a value", "X: a\x01b\r\n\r\n", 400],
  ["DEL in a value", "X: a\x7fb\r\n\r\n", 400],
  ["a control character in a name", "X\x01: a\r\n\r\n", 400],
  ["a line without a colon", "Xa\r\n\r\n", 400],
  ["an empty name", ": a\r\n\r\n", 400],
  ["a separator in a name", "X(y): a\r\n\r\n", 400],
  ["an 8-bit character in a name", "X\xe9: a\r\n\r\n", 400],
];

const lines: readonly (readonly [string, string, number])[] = [
  ["a bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400],
  ["only bare LFs", "GET / HTTP/1.1\nHost: a\n\n", 400],
  ["a space before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400],
  ["a space inside the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a control character in the target", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["an 8-bit character in the target", "GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a tab after the method", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400],
  ["a target that is no path", "GET foo HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["no version", "GET /\r\nHost: a\r\n\r\n", 505],
  ["HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505],
  ["HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
  ["another protocol", "GET / HTTX/1.1\r\nHost: a\r\n\r\n", 400],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["Transfer-Encoding on HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
];

/** Requests that only the native codec refuses; Node's accepts them, as RFC 9112 2.2 and 3 allow. */
const refusedByNative: typeof lines = [
  ["two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a bare LF before the request", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a bare CR before the request", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["many empty lines", `${"\r\n".repeat(9)}GET / HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
  ["an asterisk that is not for OPTIONS", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["a CONNECT to a path", "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
  ["an absolute form without a host", "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 400],
];

/** Malformed chunked bodies after a valid head. */
const brokenBodies: readonly (readonly [string, string])[] = [
  ["no number", "zz\r\nabc\r\n0\r\n\r\n"],
  ["0x before the size", "0x3\r\nabc\r\n0\r\n\r\n"],
  ["a negative size", "-3\r\nabc\r\n0\r\n\r\n"],
  ["a size with a space", "3 \r\nabc\r\n0\r\n\r\n"],
  ["an empty size", "\r\nabc\r\n0\r\n\r\n"],
  ["a size beyond 2^64", "fffffffffffffffff\r\nabc\r\n0\r\n\r\n"],
  ["a bare LF after the size", "3\nabc\r\n0\r\n\r\n"],
  ["a bare LF after the data", "3\r\nabc\n0\r\n\r\n"],
  ["more data than announced", "3\r\nabcd\r\n0\r\n\r\n"],
  ["a bare LF in an extension", "3;a\nb\r\nabc\r\n0\r\n\r\n"],
  ["a length in the trailers", "3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n"],
  ["a coding in the trailers", "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n"],
];

const second = "GET /second HTTP/1.1\r\nHost: a\r\n\r\n";

describeCodecs("the HTTP/1 front: request smuggling", (codec) => {
  afterEach(stopAll);

  const expectRefusal = async (request: string, status: number): Promise<void> => {
    const targets: string[] = [];
    const { connect, events } = await startFront((_, head, client) => {
      targets.push(head.target);
      answer(client);
    });
    const client = await connect();
    client.send(request + second);
    expect(statusesOf(await client.untilEnd())).to.deep.equal([String(status)]);
    expect(targets).to.deep.equal([]);
    expect(events.map((event) => event.status)).to.deep.equal([status]);
  };

  for (const [name, fields, status] of refused) {
    it(`a request with ${name} gets ${status}, and the connection is closed`, () =>
      expectRefusal(`POST / HTTP/1.1\r\nHost: a\r\n${fields}`, status));
  }
  for (const [name, request, status] of codec === "native" ? [...lines, ...refusedByNative] : lines) {
    it(`a request with ${name} gets ${status}, and the connection is closed`, () =>
      expectRefusal(request, status));
  }

  it("a malformed pipelined request is rejected only after the request before it was answered", async () => {
    const { connect } = await startFront((_, head, client) => setImmediate(answer, client, head.target));
    const client = await connect();
    client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /x HTTP/1.1\r\nX : a\r\n\r\n");
    const text = await client.untilEnd();
    expect(statusesOf(text)).to.deep.equal(["200", "400"]);
    expect(text).to.contain("/first");
  });

  it("Transfer-Encoding: chunked is accepted in any case, with chunk extensions", async () => {
    const sink = new CollectingSink();
    const { connect } = await startFront((_, _head, client) => {
      sink.onComplete = () => answer(client);
      client.body?.start(sink);
    });
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ChunKed\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n");
    expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
    expect(sink.text).to.equal("abc");
  });

  for (const [name, body] of brokenBodies) {
    const head = "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

    const startReading = async () => {
      const targets: string[] = [];
      const started = await startFront((_, { target }, client) => {
        targets.push(target);
        const sink = new CollectingSink();
        sink.onAborted = () => answer(client, sink.aborted);
        sink.onComplete = () => answer(client, "complete");
        client.body?.start(sink);
      });
      return { ...started, targets };
    };

    it(`a chunked body with ${name} is aborted, and the connection is closed after the response`, async () => {
      const { connect, events, targets } = await startReading();
      const client = await connect();
      client.send(head);
      await eventually(() => targets.length === 1);
      client.send(body + second);
      const text = await client.untilEnd();
      expect(text).to.match(/\r\nConnection: close\r\n[^]*malformed$/);
      expect(targets).to.deep.equal(["/first"]);
      expect(events.map((event) => event.reason)).to.deep.equal(["malformed-body"]);
    });

    it(`a chunked body with ${name} that arrives with its head is answered, and the connection is closed`, async () => {
      const { connect, events, targets } = await startReading();
      const client = await connect();
      client.send(head + body + second);
      const text = await client.untilEnd();
      expect(events.map((event) => event.reason)).to.deep.equal(["malformed-body"]);
      // The native codec does not pass the request on.
      expect(targets).to.deep.equal(codec === "native" ? [] : ["/first"]);
      expect(statusesOf(text)).to.deep.equal([codec === "native" ? "400" : "200"]);
      expect(text).to.match(/\r\nConnection: close\r\n/);
    });
  }

  it("a malformed body is reported once, even when more bytes follow", async () => {
    let client: ClientStream | undefined;
    const { connect, events, sockets } = await startFront((_, _head, stream) => {
      client = stream;
      stream.body?.start(new CollectingSink());
    });
    const raw = await connect();
    raw.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    await eventually(() => client !== undefined);
    raw.send("zz\r\n");
    await eventually(() => events.length > 0);
    for (let i = 0; i < 3; i++) {
      const before = sockets[0]?.bytesRead ?? 0;
      raw.send("more");
      await eventually(() => sockets[0]?.bytesRead === before + 4);
    }
    answer(client as ClientStream);
    await raw.untilEnd();
    expect(events.map((event) => event.reason)).to.deep.equal(["malformed-body"]);
  });

  it("a body whose chunks break before the body is read is aborted instead of ended", async () => {
    const sink = new CollectingSink();
    let isServed = false;
    const { connect, events } = await startFront((_, _head, client) => {
      isServed = true;
      sink.onAborted = () => answer(client);
      void eventually(() => events.length > 0).then(() => client.body?.start(sink));
    });
    const client = await connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    await eventually(() => isServed);
    client.send("zz\r\n");
    await client.untilEnd();
    expect(sink.aborted).to.equal("malformed");
    expect(sink.ended).to.equal(false);
  });
});
