import { expect } from "chai";
import { type Listed, listed } from "../../../message/listed.ts";
import type { RequestHead } from "../../../../src/message/message.ts";
import { KnownFields } from "../../../../src/http/h1/native/known-fields.ts";
import { RequestHeadParser, type HeadLimits } from "../../../../src/http/h1/native/request-head-parser.ts";

const limits: HeadLimits = { maxTargetBytes: 100, maxFieldBytes: 1000, maxFields: 5 };

type Outcome =
  | { readonly head: Listed<RequestHead>; readonly rest: string }
  | { readonly refusal: string; readonly refused: Listed<RequestHead> | undefined; readonly at: number }
  | "incomplete";

/**
 * Parses pieces, each in memory that is overwritten afterwards; `at` is the number of bytes up to the end of the
 * refused piece.
 */
function parse(pieces: readonly string[], given: HeadLimits = limits): Outcome {
  const parser = new RequestHeadParser(given);
  let at = 0;
  for (const piece of pieces) {
    const bytes = Buffer.from(`<${piece}`, "latin1");
    const next = parser.read({ owned: false, bytes }, 1, new KnownFields());
    at += piece.length;
    if (next >= 0) return { head: listed(parser.take()), rest: bytes.toString("latin1", next) };
    if (parser.refusal !== undefined)
      return { refusal: parser.refusal, refused: parser.seen && listed(parser.seen), at };
    bytes.fill("!");
  }
  return "incomplete";
}

const refusalOf = (text: string): string | undefined => {
  const outcome = parse([...text]);
  return typeof outcome === "object" && "refusal" in outcome ? outcome.refusal : undefined;
};

describe("RequestHeadParser", () => {
  const text = "GET /a?b HTTP/1.1\r\nHost:  a \t\r\nX-Y:\r\nCookie: \xe9\r\n\r\n";
  const head = {
    version: "1.1",
    method: "GET",
    target: "/a?b",
    authority: undefined,
    scheme: undefined,
    headers: ["Host", "a", "X-Y", "", "Cookie", "\xe9"],
  };

  it("RequestHeadParser gives method, target, version and fields, and where the head ends", () => {
    expect(parse([`${text}rest`])).to.deep.equal({ head, rest: "rest" });
  });

  it("RequestHeadParser reads a head alike, wherever the pieces end", () => {
    for (let first = 0; first < text.length; first++) {
      const pieces = [text.slice(0, first), text.slice(first, first + 7), `${text.slice(first + 7)}rest`];
      const whole = pieces.filter((piece) => piece !== "");
      const outcome = parse(whole);
      expect(outcome, JSON.stringify(whole)).to.have.property("head").that.deep.equals(head);
    }
    expect(parse([...text])).to.deep.equal({ head, rest: "" });
  });

  it("RequestHeadParser reads one head after another", () => {
    const parser = new RequestHeadParser(limits);
    const bytes = Buffer.from(`${text}\r\n${text}POST / HTTP/1.0\r\n\r\n`, "latin1");
    const piece = { owned: true, bytes } as const;
    let at = 0;
    for (const expected of [
      head,
      head,
      { ...head, version: "1.0", method: "POST", target: "/", headers: [] },
    ]) {
      at = parser.read(piece, at, new KnownFields());
      expect(listed(parser.take())).to.deep.equal(expected);
    }
    expect(at).to.equal(bytes.length);
  });

  it("RequestHeadParser takes every token for a method", () => {
    for (const method of ["GET", "get", "BREW", "M-SEARCH", "!#$%&'*+-.^_`|~", "M".repeat(100)]) {
      expect(parse([`${method} / HTTP/1.1\r\n\r\n`])).to.have.nested.property("head.method", method);
    }
  });

  const fields = (count: number, value = "y"): string => `X: ${value}\r\n`.repeat(count);
  /** The shortest text that is refused, and why; a byte before, it is not. */
  const refused: readonly (readonly [text: string, reason: string])[] = [
    [" ", "malformed"],
    ["\n", "malformed"],
    ["\rG", "malformed"],
    ["\r\n".repeat(9), "malformed"],
    ["\x16", "malformed"],
    ["G(", "malformed"],
    ["GET\t", "malformed"],
    ["GET\r", "malformed"],
    ["M".repeat(101), "uri-too-long"],
    ["GET  ", "malformed"],
    ["GET /\t", "malformed"],
    ["GET /\xe9", "malformed"],
    ["GET /\x7f", "malformed"],
    ["GET /\n", "malformed"],
    ["GET /\r", "unknown-version"],
    [`GET /${"a".repeat(100)}`, "uri-too-long"],
    ["GET /  ", "malformed"],
    ["GET / HTTP/1.1 ", "malformed"],
    ["GET / HTTP/1.1\n", "malformed"],
    ["GET / HTTP/1.1\rX", "malformed"],
    ["GET / HTTP/1.2\r", "unknown-version"],
    ["GET / HTTP/2\r", "unknown-version"],
    ["PRI * HTTP/2.0\r", "unknown-version"],
    ["GET / http/1.1\r", "malformed"],
    ["GET / HTTP/1.1x\r", "malformed"],
    [`GET / HTTP/${"1".repeat(12)}`, "malformed"],
    ["GET foo HTTP/1.1\r", "malformed"],
    ["GET * HTTP/1.1\r", "malformed"],
    ["GET http:// HTTP/1.1\r", "malformed"],
    ["GET http:///a HTTP/1.1\r", "malformed"],
    ["CONNECT a HTTP/1.1\r", "malformed"],
    ["CONNECT / HTTP/1.1\r", "malformed"],
    ["GET / HTTP/1.1\r\n ", "malformed"],
    ["GET / HTTP/1.1\r\n:", "malformed"],
    ["GET / HTTP/1.1\r\n\n", "malformed"],
    ["GET / HTTP/1.1\r\n\rX", "malformed"],
    ["GET / HTTP/1.1\r\nX ", "malformed"],
    ["GET / HTTP/1.1\r\nX\r", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\x00", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\x0b", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\x7f", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\n", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\r\r", "malformed"],
    ["GET / HTTP/1.1\r\nX: a\r\n\t", "malformed"],
    ["GET / HTTP/1.1\r\nTransfer-Encoding: chunked\t\r\n", "malformed"],
    [`GET / HTTP/1.1\r\n${fields(6)}`, "too-many-headers"],
    [`GET / HTTP/1.1\r\nX: ${"v".repeat(998)}`, "header-too-large"],
    [`GET / HTTP/1.1\r\n${fields(2, "v".repeat(400))}X: ${"v".repeat(188)}`, "header-too-large"],
  ];
  for (const [shortest, reason] of refused) {
    const shown = JSON.stringify(
      shortest.length > 50 ? `${shortest.slice(0, 30)}… (${shortest.length})` : shortest,
    );
    it(`RequestHeadParser refuses ${shown} as ${reason} at its last byte, whole or byte by byte`, () => {
      expect(parse([shortest])).to.have.property("refusal", reason);
      expect(parse([...shortest])).to.include({ refusal: reason, at: shortest.length });
      expect(parse([shortest.slice(0, -1)])).to.equal("incomplete");
    });
  }

  it("RequestHeadParser counts blanks around a value that are not needed, and those that could be", () => {
    expect(parse([`GET / HTTP/1.1\r\nX:${" ".repeat(990)}v\r\n\r\n`])).to.have.property("head");
    expect(refusalOf(`GET / HTTP/1.1\r\nX:${" ".repeat(996)}v\r\n\r\n`)).to.equal("header-too-large");
    // Counts as large as with the usual space after the colon.
    expect(parse([`GET / HTTP/1.1\r\nX:${"v".repeat(995)}\r\n\r\n`])).to.have.property("head");
    expect(refusalOf(`GET / HTTP/1.1\r\nX:${"v".repeat(996)}\r\n\r\n`)).to.equal("header-too-large");
  });

  it("RequestHeadParser returns as much of a refused head as it has read", () => {
    const refusedHead = (given: string): Listed<RequestHead> | undefined => {
      const outcome = parse([given]);
      return typeof outcome === "object" && "refused" in outcome ? outcome.refused : undefined;
    };
    expect(refusedHead("GE(")).to.equal(undefined);
    expect(refusedHead("HEAD /a HTTP/1.1\r\nHost: b\r\nX : y\r\n")).to.deep.include({
      method: "HEAD",
      target: "/a",
      headers: ["Host", "b"],
    });
    expect(refusedHead(`PUT /${"a".repeat(200)}`)).to.deep.include({
      method: "PUT",
      target: `/${"a".repeat(99)}`,
    });
  });

  it("RequestHeadParser shows as much of an unfinished head as it has read", () => {
    const seen = (pieces: readonly string[]): Listed<RequestHead> | undefined => {
      const parser = new RequestHeadParser(limits);
      for (const piece of pieces)
        parser.read({ owned: false, bytes: Buffer.from(piece) }, 0, new KnownFields());
      return parser.seen && listed(parser.seen);
    };
    expect(seen(["HEAD /a"])).to.equal(undefined);
    expect(seen(["HEAD /a ", "HTTP"])).to.deep.include({ method: "HEAD", target: "/a", headers: [] });
    expect(seen(["HEAD /a HTTP/1.0\r\nHost: a\r\nX-", "Y: b"])).to.deep.include({
      version: "1.0",
      headers: ["Host", "a"],
    });
  });

  it("RequestHeadParser looks at each byte once, however the bytes come", () => {
    const large: HeadLimits = { maxTargetBytes: 100, maxFieldBytes: 1_000_000, maxFields: 5 };
    const parser = new RequestHeadParser(large);
    const byte = { owned: false, bytes: Buffer.from("v") } as const;
    parser.read({ owned: false, bytes: Buffer.from("GET / HTTP/1.1\r\nX: ") }, 0, new KnownFields());
    // Rescanning the line for each byte would take 2 * 10^11 steps.
    for (let i = 0; i < 600_000; i++) parser.read(byte, 0, new KnownFields());
    expect(parser.refusal).to.equal(undefined);
  });
});
