import { expect } from "chai";
import fc from "fast-check";
import { HpackDecoder } from "../../../src/http2/hpack/decoder.ts";
import {
  encodedName,
  maxBlockBytes,
  putName,
  putNoTable,
  putStatus,
  putValue,
} from "../../../src/http2/hpack/encoder.ts";
import { maxHeadBytes, putHeadFields } from "../../../src/http2/hpack/field-block.ts";
import { Fields } from "../../../src/message/fields.ts";
import { readFields } from "../../../src/http1/read-fields.ts";

const decoded = (bytes: Buffer, end: number): string[] => {
  const fields: string[] = [];
  const isSound = new HpackDecoder(() => 0).decode(bytes, 0, end, {
    onField: ({ name, value }) => void fields.push(name, value),
  });
  expect(isSound).to.equal(true);
  return fields;
};

describe("the HPACK encoder", () => {
  it("a decoder reads the same fields as were written, within the announced room", () => {
    const name = fc.oneof(
      fc.constantFrom("date", "set-cookie", "content-type", "x"),
      fc.stringMatching(/^[a-z0-9-]{1,200}$/),
    );
    const value = fc.uint8Array({ maxLength: 400 }).map((octets) =>
      Buffer.from(octets)
        .toString("latin1")
        .replaceAll(/[\0\r\n]/g, ""),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, value), { maxLength: 20 }),
        fc.integer({ min: 100, max: 599 }),
        (pairs, status) => {
          const fields = pairs.flat();
          const into = Buffer.alloc(maxBlockBytes(fields, 16));
          let at = putStatus(into, putNoTable(into, 0), status);
          for (const [field, text] of pairs) at = putValue(into, putName(into, at, encodedName(field)), text);
          expect(at).to.be.at.most(into.length);
          expect(decoded(into, at)).to.deep.equal([":status", String(status), ...fields]);
        },
      ),
    );
  });

  it("a value with NUL, CR or LF is not written, short or long", () => {
    const into = Buffer.alloc(200);
    for (const octet of ["\0", "\r", "\n"]) {
      for (const length of [1, 20, 31, 32, 33, 100]) {
        expect(putValue(into, 0, octet.padStart(length, "a"))).to.equal(-1);
      }
    }
  });

  it("cookies and credentials are marked as never to be indexed", () => {
    for (const name of ["set-cookie", "authorization", "cookie", "proxy-authorization"]) {
      expect((encodedName(name)[0] as number) & 0xf0, name).to.equal(0x10);
    }
    expect((encodedName("date")[0] as number) & 0xf0).to.equal(0);
  });

  it("fields that are text are written as those of a list are, by known and unknown names in any case", () => {
    const name = fc.constantFrom(
      "Date",
      "SERVER",
      "x-request-id",
      "X-Own",
      "content-type",
      "TE",
      "Upgrade",
      "set-cookie",
    );
    const value = fc.oneof(fc.constant("trailers"), fc.stringMatching(/^(?:[!-~]{1,80})?$/));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (pairs) => {
        const list = pairs.flat();
        const text = pairs.map(([each, own]) => `${each}: ${own}\r\n`).join("");
        const received = readFields(text, 0, text.length, 100) as Fields;
        const blocks = [received, Fields.of(list)].map((fields) => {
          const into = Buffer.alloc(maxHeadBytes(fields));
          return into.subarray(0, putHeadFields(into, 0, fields));
        });
        expect(blocks[0]).to.deep.equal(blocks[1]);
        const sent = pairs.filter(
          ([each, own]) => each !== "Upgrade" && (each !== "TE" || own === "trailers"),
        );
        const first = blocks[0] as Buffer;
        expect(decoded(first, first.length)).to.deep.equal(
          sent.flatMap(([each, own]) => [each.toLowerCase(), own]),
        );
      }),
    );
  });

  it("fields that repeat are written as those that come once, with and without some that were removed", () => {
    const text = "x-a: 1\r\nX-B: 2\r\nTe: gzip\r\ncontent-length: 3\r\n";
    const fields = (): Fields => readFields(text, 0, text.length, 10) as Fields;
    const repeated = fields().repeatable();
    const block = (given: Fields): string => {
      const into = Buffer.alloc(maxHeadBytes(given));
      return into.toString("latin1", 0, putHeadFields(into, 0, given));
    };
    for (const removed of ["", "", "x-b", "x-b", "te", ""]) {
      const [once, again] = [fields(), repeated.withoutKinds(0)];
      for (const each of [once, again]) each.remove(new Set([removed]));
      expect(block(again)).to.equal(block(once));
      for (const each of [once, again]) each.append("x-c", "4");
      expect(block(again)).to.equal(block(once));
    }
  });
});
