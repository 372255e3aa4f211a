import { expect } from "chai";
import { maxFields, parseResponseHead } from "../../../src/upstream/h1/response-head.ts";
import { listed } from "../../message/listed.ts";

const parse = (head: string) => parseResponseHead(head, 0, head.length);
const value = (head: string) => {
  const result = parse(head);
  if (!result.ok) throw new Error(result.error);
  return listed(result.value);
};

describe("parseResponseHead", () => {
  it("parseResponseHead reads status, fields and framing", () => {
    const head = value(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Empty:\r\nContent-Length: 5\r\n\r\n",
    );
    expect(head).to.deep.equal({
      status: 200,
      headers: ["Content-Type", "text/plain", "X-Empty", "", "Content-Length", "5"],
      length: 5,
      chunked: false,
      keepAlive: true,
      keepAliveField: undefined,
      upgradeTo: undefined,
    });
  });

  it("parseResponseHead removes the Keep-Alive fields and returns the first", () => {
    const head = value("HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\nA: b\r\nKeep-Alive: timeout=9\r\n\r\n");
    expect([head.headers, head.keepAliveField]).to.deep.equal([["A", "b"], "timeout=5"]);
  });

  it("parseResponseHead starts at the given offset", () => {
    const text = "junkHTTP/1.1 204 No Content\r\n\r\njunk";
    const result = parseResponseHead(text, 4, text.length - 4);
    expect(result.ok && result.value.status).to.equal(204);
  });

  it("parseResponseHead trims values and keeps order, repetition and bytes above ASCII", () => {
    const head = value("HTTP/1.1 200\r\nSet-Cookie: \t a=1 \t\r\nX: \xe9\xff\r\nset-cookie:b=2\r\n\r\n");
    expect(head.headers).to.deep.equal(["Set-Cookie", "a=1", "X", "\xe9\xff", "set-cookie", "b=2"]);
  });

  for (const line of ["HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 \xfcberall gut", "HTTP/1.0 599 x"]) {
    it(`parseResponseHead accepts the status line ${JSON.stringify(line)}`, () => {
      expect(parse(`${line}\r\n\r\n`).ok).to.equal(true);
    });
  }

  const badStatusLines = [
    "HTTP/2.0 200 OK",
    "HTTP/1.2 200 OK",
    "http/1.1 200 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1\t200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 099 OK",
    "HTTP/1.1 600 OK",
    "HTTP/1.1 200OK",
    "HTTP/1.1 2x0 OK",
    "HTTP/1.1 200 O\x00K",
    "HTTP/1.1 200 O\x7fK",
    "HTTP/1.1 200 O\nK",
    " HTTP/1.1 200 OK",
    "\r\nHTTP/1.1 200 OK",
    "ICY 200 OK",
    "",
  ];
  for (const line of badStatusLines) {
    it(`parseResponseHead rejects the status line ${JSON.stringify(line)}`, () => {
      expect(parse(`${line}\r\n\r\n`)).to.deep.equal({ ok: false, error: "invalid status line" });
    });
  }

  const badFields = [
    "X : y",
    " X: y",
    "X: y\r\n folded",
    "X: y\r\n\tfolded",
    ": y",
    "X",
    "X y",
    "X: a\nY: b",
    "X: a\rY: b",
    "X: a\x00b",
    "X: a\x1bb",
    "X: a\x7fb",
    "X\x00: a",
    "X(: a",
    "\xe9: a",
    "X: a\n",
  ];
  for (const field of badFields) {
    it(`parseResponseHead rejects the field ${JSON.stringify(field)}`, () => {
      expect(parse(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`)).to.deep.equal({
        ok: false,
        error: "invalid response header",
      });
    });
  }

  it("parseResponseHead accepts fields up to the limit", () => {
    const fields = (count: number) => "A: b\r\n".repeat(count);
    expect(parse(`HTTP/1.1 200 OK\r\n${fields(maxFields)}\r\n`).ok).to.equal(true);
    expect(parse(`HTTP/1.1 200 OK\r\n${fields(maxFields + 1)}\r\n`).ok).to.equal(false);
  });

  describe("Content-Length", () => {
    const withLength = (...lines: string[]) =>
      parse(`HTTP/1.1 200 OK\r\n${lines.map((line) => `Content-Length: ${line}\r\n`).join("")}\r\n`);

    for (const line of ["5", "05"]) {
      it(`the Content-Length value ${line} is passed on as 5`, () => {
        const result = withLength(line);
        expect(result.ok && result.value.length).to.equal(5);
        expect(result.ok && result.value.headers.toList()).to.deep.equal(["Content-Length", "5"]);
      });
    }
    const bad = [
      ["5", "5"],
      ["5, 5"],
      ["5,5 ,5"],
      ["5", "5, 5"],
      ["5", "6"],
      ["5, 6"],
      ["+5"],
      ["-5"],
      ["0x5"],
      ["5 5"],
      ["5,"],
      [",5"],
      [""],
      ["5.0"],
      ["five"],
      ["1e3"],
      ["9999999999999999"],
      ["99999999999999999999999"],
    ];
    for (const lines of bad) {
      it(`the Content-Length values ${JSON.stringify(lines)} are rejected`, () => {
        expect(withLength(...lines)).to.deep.equal({ ok: false, error: "invalid content-length" });
      });
    }
    for (const status of [204, 100]) {
      it(`the Content-Length of a ${status}, which has no body, is ignored`, () => {
        const head = value(`HTTP/1.1 ${status} x\r\nContent-Length: 5\r\nA: b\r\n\r\n`);
        expect(head.length).to.equal(undefined);
        expect(head.headers).to.deep.equal(["A", "b"]);
      });
    }
  });

  describe("Transfer-Encoding", () => {
    it("Transfer-Encoding: chunked is recognised in any case, and the field is removed", () => {
      const head = value("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nA: b\r\n\r\n");
      expect(head.chunked).to.equal(true);
      expect(head.headers).to.deep.equal(["A", "b"]);
    });
    for (const coding of [
      "gzip",
      "gzip, chunked",
      "chunked, chunked",
      "identity",
      "xchunked",
      "chunked;q=1",
      "",
    ]) {
      it(`the Transfer-Encoding ${JSON.stringify(coding)} is rejected`, () => {
        expect(parse(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n`)).to.deep.equal({
          ok: false,
          error: "unsupported transfer-encoding",
        });
      });
    }
    it("Transfer-Encoding is rejected when it is repeated, with Content-Length, and from HTTP/1.0", () => {
      const te = "Transfer-Encoding: chunked\r\n";
      expect(parse(`HTTP/1.1 200 OK\r\n${te}${te}\r\n`).ok).to.equal(false);
      expect(parse(`HTTP/1.1 200 OK\r\n${te}Content-Length: 5\r\n\r\n`).ok).to.equal(false);
      expect(parse(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${te}\r\n`).ok).to.equal(false);
      expect(parse(`HTTP/1.0 200 OK\r\n${te}\r\n`).ok).to.equal(false);
    });
  });

  describe("the connection", () => {
    const cases: [string, boolean][] = [
      ["HTTP/1.1 200 OK\r\n", true],
      ["HTTP/1.1 200 OK\r\nConnection: close\r\n", false],
      ["HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nCONNECTION: x, Close\r\n", false],
      ["HTTP/1.0 200 OK\r\n", false],
      ["HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", true],
      ["HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\n", false],
    ];
    for (const [head, keepAlive] of cases) {
      it(`the connection ${keepAlive ? "stays" : "ends"} after ${JSON.stringify(head)}`, () => {
        expect(value(`${head}\r\n`).keepAlive).to.equal(keepAlive);
      });
    }

    it("hop-by-hop fields and those named in Connection are removed, but not protected ones", () => {
      const head = value(
        "HTTP/1.1 200 OK\r\nConnection: x-private, authorization, Content-Length\r\nKeep-Alive: timeout=5\r\n" +
          "X-Private: 1\r\nProxy-Authenticate: Basic\r\nproxy-connection: x\r\nTE: x\r\nTrailer: x\r\nUpgrade: h2c\r\n" +
          "Authorization: kept\r\nContent-Length: 3\r\nProxied: kept\r\n\r\n",
      );
      expect(head.headers).to.deep.equal(["Authorization", "kept", "Content-Length", "3", "Proxied", "kept"]);
    });

    it("an upgrade is recognised only when Connection and Upgrade agree", () => {
      const upgradeTo = (fields: string) => value(`HTTP/1.1 101 x\r\n${fields}\r\n`).upgradeTo;
      expect(upgradeTo("Connection: Upgrade\r\nUpgrade: WebSocket\r\n")).to.equal("websocket");
      expect(upgradeTo("Connection: upgrade\r\nUpgrade: a\r\nUpgrade: b/2\r\n")).to.equal("a, b/2");
      expect(upgradeTo("Upgrade: websocket\r\n")).to.equal(undefined);
      expect(upgradeTo("Connection: upgrade\r\n")).to.equal(undefined);
    });
  });
});
