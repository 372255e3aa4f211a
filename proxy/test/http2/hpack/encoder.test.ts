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

const decoded = (bytes: Buffer, end: number): string[] => {
  const fields: string[] = [];
  const isSound = new HpackDecoder(() => 0).decode(bytes, 0, end, {
    onField: (name, value) => fields.push(name, value),
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
});
