import { expect } from "chai";
import type { UpstreamErrorKind } from "../../../src/upstream/upstream-errors.ts";
import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import type { UpstreamClient } from "../../../src/upstream/upstream.ts";
import { describeSocketLayers } from "../../socket-layers.ts";
import { clientOptions, getRequest, RawServer, Recorder, until } from "../support.ts";

/** The text that an upstream sends, and the expected error. `afterwards` ends the connection after the text. */
type InvalidResponse = {
  readonly name: string;
  readonly text: string;
  readonly afterwards?: "end" | "reset";
  readonly kind: UpstreamErrorKind;
  /** True when a head was delivered before the fault showed. */
  readonly headSeen?: boolean;
};

const head = "HTTP/1.1 200 OK\r\n";
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const invalid = (name: string, text: string, headSeen = false): InvalidResponse => ({
  name,
  text,
  kind: "invalid",
  headSeen,
});

const invalidResponses: readonly InvalidResponse[] = [
  invalid("two different lengths", `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`),
  invalid("two equal lengths", `${head}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`),
  invalid("a list of equal lengths", `${head}Content-Length: 5, 5\r\n\r\nhello`),
  invalid("a list of different lengths", `${head}Content-Length: 5, 6\r\n\r\nhello`),
  invalid("a negative length", `${head}Content-Length: -5\r\n\r\n`),
  invalid("a length that is no number", `${head}Content-Length: five\r\n\r\n`),
  invalid("a length that is too large", `${head}Content-Length: 99999999999999999999\r\n\r\n`),
  invalid(
    "a length next to a coding",
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  invalid(
    "a coding next to a length",
    `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
  ),
  invalid("an unknown coding", `${head}Transfer-Encoding: gzip\r\n\r\n`),
  invalid("two codings", `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`),
  invalid(
    "chunked twice",
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ),
  invalid("a coding on HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
  invalid("a space before the colon", `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`),
  invalid("a folded field", `${head}A: b\r\n c\r\n\r\n`),
  invalid("a leading space", `${head} A: b\r\n\r\n`),
  invalid("bare LF after the status line", "HTTP/1.1 200 OK\nA: b\r\n\r\n"),
  invalid("bare LF after a field", `${head}A: b\nC: d\r\n\r\n`),
  invalid("bare LF throughout", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
  invalid("bare CR in a field", `${head}A: b\rC: d\r\n\r\n`),
  invalid("NUL in a value", `${head}A: b\0c\r\n\r\n`),
  invalid("a control character in a value", `${head}A: \x1b[2J\r\n\r\n`),
  invalid("a control character in a name", `${head}A\x01: b\r\n\r\n`),
  invalid("a field without a name", `${head}: b\r\n\r\n`),
  invalid("a line without a colon", `${head}nonsense\r\n\r\n`),
  invalid("an unknown version", "HTTP/3.0 200 OK\r\n\r\n"),
  invalid("an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  invalid("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"),
  invalid("a status beyond 599", "HTTP/1.1 999 OK\r\n\r\n"),
  invalid("an empty line first", `\r\n\r\n${head}\r\n`),
  invalid("no head at all", "<html>not found</html>\r\n\r\n"),
  invalid("another protocol", "SSH-2.0-OpenSSH_9.2p1\r\n"),
  invalid("an HTTP/2 frame", "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64"),
  invalid("201 fields", `${head}${"A: b\r\n".repeat(201)}\r\n`),
  invalid("a field of 64 KiB", `${head}A: ${"x".repeat(65_536)}\r\n\r\n`),
  invalid("a head without end", `${head}${"A: b\r\n".repeat(12_000)}`),
  invalid("a status line without end", `HTTP/1.1 200 ${"x".repeat(70_000)}`),
  invalid("a flood of 1xx", "HTTP/1.1 103 x\r\n\r\n".repeat(33)),
  invalid("a body on a 1xx", `HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\nhello${head}\r\n`),
  invalid("101 without a request for it", "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"),
  invalid("a chunk size that is no number", `${chunked}xyz\r\n`, true),
  invalid("a negative chunk size", `${chunked}-1\r\n`, true),
  invalid("a chunk size with a prefix", `${chunked}0x5\r\nhello\r\n`, true),
  invalid("a chunk size that overflows", `${chunked}fffffffffffffffff\r\n`, true),
  invalid("a chunk size with spaces", `${chunked}5 \r\nhello\r\n`, true),
  invalid("an empty chunk size", `${chunked}\r\nhello\r\n`, true),
  invalid("a chunk that is longer than its size", `${chunked}2\r\nhello\r\n`, true),
  invalid("bare LF after a chunk size", `${chunked}5\nhello\r\n`, true),
  invalid("bare LF after a chunk", `${chunked}5\r\nhello\n`, true),
  invalid("bare LF in an extension", `${chunked}5;a\n\r\nhello\r\n`, true),
  invalid("an endless extension", `${chunked}5;${"x".repeat(5000)}`, true),
  invalid("malformed trailers", `${chunked}0\r\nA : b\r\n\r\n`, true),
  invalid("too many trailers", `${chunked}0\r\n${"A: b\r\n".repeat(201)}\r\n`, true),
  invalid("endless trailers", `${chunked}0\r\n${"A: b\r\n".repeat(12_000)}`, true),
  { name: "an end without any byte", text: "", afterwards: "end", kind: "reset" },
  { name: "a reset without any byte", text: "", afterwards: "reset", kind: "reset" },
  { name: "an end in the head", text: `${head}Conte`, afterwards: "end", kind: "reset" },
  { name: "an end after a 1xx", text: "HTTP/1.1 103 x\r\n\r\n", afterwards: "end", kind: "reset" },
  {
    name: "an end in a body",
    text: `${head}Content-Length: 9\r\n\r\nhello`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
  {
    name: "an end before a body",
    text: `${head}Content-Length: 9\r\n\r\n`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
  {
    name: "an end in a chunk",
    text: `${chunked}9\r\nhello`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
  {
    name: "an end between chunks",
    text: `${chunked}5\r\nhello\r\n`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
  {
    name: "an end in the last chunk",
    text: `${chunked}0\r\n`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
  {
    name: "an end in the trailers",
    text: `${chunked}0\r\nA: b\r\n`,
    afterwards: "end",
    kind: "reset",
    headSeen: true,
  },
];

describeSocketLayers("invalid responses of upstreams", () => {
  let client: UpstreamClient;
  let server: RawServer;

  beforeEach(async () => {
    client = createHttp1UpstreamClient(clientOptions());
    server = await RawServer.start();
  });
  afterEach(() => {
    client.close();
    server.close();
  });

  for (const { name, text, afterwards, kind, headSeen } of invalidResponses) {
    it(`a response with ${name} is reported as ${kind}, and the connection ends`, async () => {
      const recorder = new Recorder();
      client.send(server.endpoint, getRequest(), recorder);
      const peer = await server.peer(0);
      await peer.until("\r\n\r\n");
      peer.write(text);
      if (afterwards === "end") peer.socket.end();
      else if (afterwards === "reset") peer.reset();
      await recorder.done;
      expect(recorder.ends).to.deep.equal(["error"]);
      expect(recorder.error).to.include({ kind, requestSent: true });
      expect(recorder.head !== undefined).to.equal(headSeen === true);
      await until(() => peer.closed);
      expect(server.peers).to.have.length(1);
    });
  }

  it("a reset in a body that ends with the connection is an error, not the end of the body", async () => {
    const recorder = new Recorder();
    client.send(server.endpoint, getRequest(), recorder);
    const peer = await server.peer(0);
    await peer.until("\r\n\r\n");
    peer.write(`${head}\r\nhello`);
    await until(() => recorder.text === "hello");
    peer.reset();
    await recorder.done;
    expect([recorder.ends, recorder.error?.kind]).to.deep.equal([["error"], "reset"]);
  });
});
