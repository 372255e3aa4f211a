import { expect } from "chai";
import { KnownFields } from "../../../../src/http/h1/native/known-fields.ts";
import { RequestHeadParser } from "../../../../src/http/h1/native/request-head-parser.ts";
import type { RequestHead } from "../../../../src/message/message.ts";
import { kindsMask } from "../../../../src/message/known-names.ts";

const limits = { maxTargetBytes: 100, maxFieldBytes: 4096, maxFields: 40 };
const fields = "Host: a.example\r\nX-Trace: 0123456789\r\nX-B: 2\r\n\r\n";

/** Returns a function that parses whole heads, each followed by a body that it ignores. */
function reader() {
  const known = new KnownFields();
  return (line: string, text: string): RequestHead => {
    const parser = new RequestHeadParser(limits);
    const bytes = Buffer.from(`..${line} HTTP/1.1\r\n${text}body`, "latin1");
    expect(parser.read({ owned: false, bytes }, 2, known)).to.equal(bytes.length - "body".length);
    return parser.take();
  };
}

const shown = ({ method, target, headers }: RequestHead): readonly unknown[] => [
  method,
  target,
  headers.toList(),
  headers.linesText(),
  headers.mayHave(kindsMask("host")),
];

const list = (headers: RequestHead["headers"]): readonly string[] => [...headers.toList()];

describe("KnownFields", () => {
  it("a request whose fields repeat is read as the first of them, with its own request line", () => {
    const read = reader();
    const lines = ["GET /1", "POST /22", "GET /3?a=b", "DELETE /4", "GET /1"];
    for (const line of lines) expect(shown(read(line, fields))).to.deep.equal(shown(reader()(line, fields)));
  });

  it("fields that are found are not parsed again", () => {
    const known = new KnownFields();
    const bytes = Buffer.from(fields, "latin1");
    expect(known.find(bytes, 0)).to.equal(0);
    const { headers } = reader()("GET /", fields);
    known.note(headers, bytes, 0, bytes.length);
    expect(known.find(bytes, 0)).to.equal(0);
    known.note(headers, bytes, 0, bytes.length);
    expect(known.find(bytes, 0)).to.equal(bytes.length);
    expect(known.find(Buffer.concat([Buffer.from("GET"), bytes, bytes]), 3)).to.equal(bytes.length);
    expect(known.find(bytes.subarray(0, -1), 0)).to.equal(0);
  });

  it("known fields keep what they are when those of a request that was found by them are changed", () => {
    const read = reader();
    const wanted = list(read("GET /", fields).headers);
    for (let request = 0; request < 4; request++) {
      const { headers } = read("GET /", fields);
      expect(list(headers), String(request)).to.deep.equal(wanted);
      headers.remove(new Set(["x-trace"]));
      headers.append("X-C", "3");
      headers.linesText();
    }
  });

  it("known fields do not change with the memory that they were read in", () => {
    const known = new KnownFields();
    const parser = new RequestHeadParser(limits);
    const bytes = Buffer.from(`GET / HTTP/1.1\r\n${fields}`, "latin1");
    for (let request = 0; request < 2; request++) {
      parser.read({ owned: false, bytes }, 0, known);
      parser.take();
    }
    const copy = Buffer.from(bytes);
    bytes.fill(0x78);
    expect(known.find(bytes, 16)).to.equal(0);
    expect(known.find(copy, 16)).to.equal(fields.length);
    expect(known.take()?.first("x-trace")).to.equal("0123456789");
  });

  it("fields that differ in one octet are read as what they are", () => {
    const read = reader();
    for (let request = 0; request < 3; request++) read("GET /", fields);
    for (const value of ["0123456780", "1123456789", "0123456789", "0123456788"]) {
      const { headers } = read("GET /", fields.replace("0123456789", value));
      expect(headers.first("x-trace")).to.equal(value);
    }
  });

  it("fields that were not written as the proxy writes them, and more than have a bit in a mask, repeat as well", () => {
    const odd = "host:a\r\nX-A:  1 \r\n\r\n";
    const many = `${Array.from({ length: 35 }, (_, index) => `X-${index}: ${index}\r\n`).join("")}\r\n`;
    for (const text of [odd, many]) {
      const read = reader();
      const [first, ...others] = [1, 2, 3, 4].map(() => list(read("GET /", text).headers));
      for (const other of others) expect(other).to.deep.equal(first);
    }
  });

  it("long fields are not kept", () => {
    const known = new KnownFields();
    const bytes = Buffer.from(`X-A: ${"x".repeat(1024)}\r\n\r\n`, "latin1");
    const { headers } = reader()("GET /", bytes.toString("latin1"));
    for (let request = 0; request < 3; request++) known.note(headers, bytes, 0, bytes.length);
    expect(known.find(bytes, 0)).to.equal(0);
  });
});
