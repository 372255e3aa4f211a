import { expect } from "chai";
import { readResponseHead } from "../../../src/upstream/h2/node/response-head.ts";

describe("readResponseHead (HTTP/2)", () => {
  it("readResponseHead reads status, fields and length of an HTTP/2 response", () => {
    const head = readResponseHead([":status", "200", "a", "1", "content-length", "7", "a", "2"], "GET");
    if (!head.ok) expect.fail("the head was refused");
    const { headers, ...rest } = head.value;
    expect(rest).to.deep.equal({ status: 200, length: 7, bodyless: false });
    expect(headers.toList()).to.deep.equal(["a", "1", "content-length", "7", "a", "2"]);
  });

  it("readResponseHead recognises responses without a body", () => {
    const bodyless = (status: string, method: string): unknown => {
      const head = readResponseHead([":status", status], method);
      return head.ok && head.value.bodyless;
    };
    expect(bodyless("200", "HEAD")).to.equal(true);
    expect(bodyless("204", "GET")).to.equal(true);
    expect(bodyless("304", "GET")).to.equal(true);
    expect(bodyless("205", "GET")).to.equal(false);
  });

  it("readResponseHead rejects invalid statuses", () => {
    for (const status of ["", "0", "99", "600", "101", "2e2x"]) {
      expect(readResponseHead([":status", status], "GET").ok).to.equal(false);
    }
    expect(readResponseHead([], "GET").ok).to.equal(false);
  });

  it("readResponseHead rejects a length that a number cannot hold exactly", () => {
    const of = (length: string) => readResponseHead([":status", "200", "content-length", length], "GET").ok;
    expect(of("9007199254740991")).to.equal(true);
    expect(of("9007199254740993")).to.equal(false);
  });

  it("readResponseHead rejects too many and too large fields", () => {
    const fields = (count: number): string[] => Array.from({ length: count }, () => ["a", "b"]).flat();
    expect(readResponseHead([":status", "200", ...fields(200)], "GET").ok).to.equal(true);
    expect(readResponseHead([":status", "200", ...fields(201)], "GET").ok).to.equal(false);
    expect(readResponseHead([":status", "200", "a", "x".repeat(65_535)], "GET").ok).to.equal(true);
    expect(readResponseHead([":status", "200", "a", "x".repeat(65_536)], "GET").ok).to.equal(false);
    const dropped = (count: number): string[] => Array.from({ length: count }, () => ["trailer", "b"]).flat();
    expect(readResponseHead([":status", "200", ...dropped(201)], "GET").ok).to.equal(false);
    expect(readResponseHead([":status", "200", "proxy-a", "x".repeat(65_536)], "GET").ok).to.equal(false);
  });
});
