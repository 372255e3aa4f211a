import { expect } from "chai";
import fc from "fast-check";
import { KeptContent } from "../../src/http2/connection/kept-content.ts";

const taken = (kept: KeptContent, most: number): string => {
  const into = Buffer.alloc(most + 2, "-");
  const length = kept.take(into, 1, most);
  expect(into.toString("latin1", length + 1)).to.match(/^-+$/);
  return into.toString("latin1", 1, 1 + length);
};
const allOf = (kept: KeptContent): string => {
  let text = "";
  while (kept.bytes > 0) text += taken(kept, 20_000);
  return text;
};

describe("copies of content that wait to be sent over HTTP/2", () => {
  it("content leaves as it came while others are copied in between and its own memory is written over", () => {
    const piece = fc.record({
      size: fc.integer({ min: 1, max: 70_000 }),
      octet: fc.integer({ min: 0, max: 255 }),
      from: fc.nat({ max: 20_000 }),
      to: fc.nat({ max: 2 }),
    });
    const take = fc.record({ most: fc.integer({ min: 0, max: 20_000 }), of: fc.nat({ max: 2 }) });
    const drop = fc.record({ drops: fc.nat({ max: 2 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, take, drop), { maxLength: 60 }), (steps) => {
        const all = [0, 1, 2].map(() => ({ kept: new KeptContent(), expected: "", actual: "" }));
        type Side = (typeof all)[number];
        for (const step of steps) {
          if ("octet" in step) {
            const { kept } = all[step.to] as Side;
            const bytes = Buffer.alloc(step.size, step.octet);
            const from = Math.min(step.from, step.size);
            kept.add(bytes, from);
            (all[step.to] as Side).expected += bytes.toString("latin1", from);
            bytes.fill("!");
          } else if ("most" in step) {
            const side = all[step.of] as Side;
            side.actual += taken(side.kept, step.most);
          } else {
            const side = all[step.drops] as Side;
            side.kept.drop();
            side.expected = side.actual = "";
          }
        }
        for (const { kept, expected, actual } of all)
          expect(actual + allOf(kept) === expected).to.equal(true);
      }),
      { numRuns: 50 },
    );
  });

  it("content that is taken in parts counts what is left of it", () => {
    const kept = new KeptContent();
    kept.add(Buffer.alloc(40_000, "a"), 10_000);
    expect(kept.bytes).to.equal(30_000);
    taken(kept, 16_384);
    expect(kept.bytes).to.equal(30_000 - 16_384);
    kept.drop();
    expect(kept.bytes).to.equal(0);
    expect(taken(kept, 10)).to.equal("");
  });
});
