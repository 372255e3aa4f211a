import { expect } from "chai";
import { decodeRecords } from "../../src/tracing/encoded-spans.ts";
import { SpanMemory } from "../../src/tracing/export/span-memory.ts";

/** The record of one request with `count` spans. */
function record(count: number, text: string): Buffer {
  const bytes = Buffer.alloc(6 + text.length);
  bytes.writeUInt32LE(bytes.length - 4, 0);
  bytes.writeUInt16LE(count, 4);
  bytes.write(text, 6);
  return bytes;
}

const shown = (
  spans: readonly { readonly count: number; readonly bytes: Uint8Array }[],
): readonly unknown[] => spans.map(({ count, bytes }) => [count, Buffer.from(bytes).toString()]);

describe("SpanMemory", () => {
  const records = Buffer.concat([record(1, "one"), record(3, "three of them"), record(2, "")]);

  it("spans are copied, and do not change with what they were copied from", () => {
    const memory = new SpanMemory();
    const ring = Buffer.from(records);
    const spans = memory.copy(ring);
    ring.fill(0);
    expect(shown(spans)).to.deep.equal(shown([...decodeRecords(records)]));
  });

  it("memory is used again once all of its spans are released, and not before", () => {
    const memory = new SpanMemory();
    const first = memory.copy(records);
    const [one, three, two] = first;
    one?.lease.release();
    three?.lease.release();
    const second = memory.copy(records);
    expect(second[0]?.bytes.buffer).to.not.equal(first[0]?.bytes.buffer);
    expect(shown(first)).to.deep.equal(shown(second));
    two?.lease.release();
    const third = memory.copy(record(1, "other"));
    expect(third[0]?.bytes.buffer).to.equal(first[0]?.bytes.buffer);
    expect(shown(third)).to.deep.equal([[1, "other"]]);
    expect(shown(second)).to.deep.equal(shown([...decodeRecords(records)]));
  });

  it("spans that do not fit into memory that is free get other memory", () => {
    const memory = new SpanMemory();
    for (const { lease } of memory.copy(records)) lease.release();
    const large = record(1, "x".repeat(300_000));
    expect(shown(memory.copy(large))).to.deep.equal([[1, "x".repeat(300_000)]]);
  });

  it("little memory is kept for the next spans", () => {
    const memory = new SpanMemory();
    const held = Array.from({ length: 10 }, () => memory.copy(records));
    const used = new Set(held.map((spans) => spans[0]?.bytes.buffer));
    for (const spans of held) for (const { lease } of spans) lease.release();
    const again = Array.from({ length: 10 }, () => memory.copy(records)[0]?.bytes.buffer);
    expect(again.filter((buffer) => used.has(buffer))).to.have.lengthOf(4);
  });
});
