import { expect } from "chai";
import fc from "fast-check";
import { renderLastChunk, renderRequestHead } from "../../../src/upstream/h1/request-head.ts";
import { getRequest, ManualBody } from "../support.ts";
import { Fields } from "../../../src/message/fields.ts";

const render = (...overrides: Parameters<typeof getRequest>) => {
  const result = renderRequestHead(getRequest(...overrides));
  return result.ok ? result.value : undefined;
};

describe("renderRequestHead", () => {
  it("the request head contains request line, Host and fields unchanged", () => {
    expect(render({ target: "/a?b", headers: Fields.of(["Accept", "*/*", "x-B", ""]) })).to.equal(
      "GET /a?b HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nx-B: \r\n\r\n",
    );
  });

  it("a request without authority gets an empty Host field", () => {
    expect(render({ authority: "" })).to.equal("GET / HTTP/1.1\r\nHost: \r\n\r\n");
  });

  it("the request head frames bodies by Content-Length or Transfer-Encoding", () => {
    const start = (method: string) => `${method} / HTTP/1.1\r\nHost: example.com\r\n`;
    expect(render({ method: "POST", body: new ManualBody(12) })).to.equal(
      `${start("POST")}Content-Length: 12\r\n\r\n`,
    );
    expect(render({ method: "GET", body: new ManualBody(undefined) })).to.equal(
      `${start("GET")}Transfer-Encoding: chunked\r\n\r\n`,
    );
    for (const method of ["POST", "PUT", "PATCH"]) {
      expect(render({ method })).to.equal(`${start(method)}Content-Length: 0\r\n\r\n`);
    }
    for (const method of ["DELETE", "OPTIONS", "HEAD"])
      expect(render({ method })).to.equal(`${start(method)}\r\n`);
  });

  it("the request head asks for an upgrade and for 100 Continue", () => {
    expect(render({ upgrade: "websocket" })).to.match(
      /\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n$/,
    );
    expect(render({ method: "PUT", body: new ManualBody(1), expectContinue: true })).to.match(
      /\r\nExpect: 100-continue\r\n/,
    );
  });

  it("the TE field is not sent to an HTTP/1.1 upstream", () => {
    expect(render({ headers: Fields.of(["te", "trailers", "A", "b"]) })).to.equal(
      "GET / HTTP/1.1\r\nHost: example.com\r\nA: b\r\n\r\n",
    );
  });

  const injections = [
    "a\r\nB: c",
    "a\nB: c",
    "a\rB: c",
    "a\0",
    "a\u010ab",
    "a\u010d\u010ab",
    "a\x7f",
    "a\x1b",
  ];
  for (const bad of injections) {
    it(`renderRequestHead and renderLastChunk reject ${JSON.stringify(bad)} in every part`, () => {
      expect(render({ headers: Fields.of(["A", bad]) })).to.equal(undefined);
      expect(render({ headers: Fields.of([bad, "a"]) })).to.equal(undefined);
      expect(render({ authority: bad })).to.equal(undefined);
      expect(render({ target: `/${bad}` })).to.equal(undefined);
      expect(render({ method: bad })).to.equal(undefined);
      expect(render({ upgrade: bad })).to.equal(undefined);
      expect(renderLastChunk(["A", bad])).to.equal("0\r\n\r\n");
      expect(renderLastChunk([bad, "a"])).to.equal("0\r\n\r\n");
    });
  }

  for (const target of ["", "/a b", "/a HTTP/1.1", "/\t"]) {
    it(`renderRequestHead rejects the target ${JSON.stringify(target)}`, () => {
      expect(render({ target })).to.equal(undefined);
    });
  }

  it("a request head never has more lines than fields, with any bytes in them", () => {
    const unit = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("\r", "\n", "\r\n", "a", ":", " ", "\0", "\u010a") },
      { weight: 1, arbitrary: fc.string({ maxLength: 1, unit: "binary" }) },
    );
    const text = fc.string({ unit, maxLength: 6 });
    fc.assert(
      fc.property(text, text, text, (name, value, target) => {
        const head = render({ target: `/${target}`, headers: Fields.of([name, value]) });
        if (head === undefined) return;
        expect(
          Buffer.from(head, "latin1")
            .toString("latin1")
            .split(/\r\n|\r|\n/),
        ).to.deep.equal([`GET /${target} HTTP/1.1`, "Host: example.com", `${name}: ${value}`, "", ""]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("renderLastChunk", () => {
  it("the last chunk carries trailers", () => {
    expect(renderLastChunk(undefined)).to.equal("0\r\n\r\n");
    expect(renderLastChunk(["A", "b", "C", "d"])).to.equal("0\r\nA: b\r\nC: d\r\n\r\n");
  });
});
