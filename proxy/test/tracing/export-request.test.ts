import { expect } from "chai";
import type { EncodedSpans } from "../../src/tracing/encoded-spans.ts";
import { createExportEncoder } from "../../src/tracing/export/export-request.ts";

const batch = (text: string): readonly EncodedSpans[] => [{ count: 1, bytes: Buffer.from(text) }];

describe("createExportEncoder", () => {
  it("the bytes of a request stay until it is released, however many are encoded meanwhile", () => {
    const encode = createExportEncoder({ "service.name": "edge" }, "svc-gateway");
    const texts = Array.from({ length: 5 }, (_, index) => String(index).repeat(10));
    const requests = texts.map((text) => encode(batch(text)));
    for (const [index, { bytes }] of requests.entries())
      expect(Buffer.from(bytes).includes(texts[index] ?? ""), String(index)).to.equal(true);
  });

  it("a request gets the memory of one that was released, once", () => {
    const encode = createExportEncoder({ "service.name": "edge" }, "svc-gateway");
    const first = encode(batch("first"));
    first.release();
    first.release();
    const second = encode(batch("second"));
    const third = encode(batch("third"));
    expect(second.bytes.buffer).to.equal(first.bytes.buffer);
    expect(third.bytes.buffer).to.not.equal(first.bytes.buffer);
  });
});
