import { expect } from "chai";
import fc from "fast-check";
import { ContentQueue } from "../../src/http2/connection/content-queue.ts";
import type { Chunk } from "../../src/message/message.ts";

const emptied = (queue: ContentQueue): Chunk[] => {
  const pieces: Chunk[] = [];
  for (let piece = queue.shift(); piece !== undefined; piece = queue.shift()) pieces.push(piece);
  return pieces;
};
const textOf = (pieces: readonly Chunk[]): string => pieces.map((piece) => piece.toString("latin1")).join("");

describe("content that waits to be sent over HTTP/2", () => {
  it("content that came in single octets leaves in few pieces", () => {
    for (const piece of ["x", Buffer.from("x")]) {
      const queue = new ContentQueue();
      for (let i = 0; i < 65_536; i++) queue.add(piece);
      const pieces = emptied(queue);
      expect(textOf(pieces)).to.equal("x".repeat(65_536));
      expect(pieces.length).to.be.lessThan(20);
    }
  });

  it("large pieces of content are not copied", () => {
    const queue = new ContentQueue();
    const large = Buffer.alloc(20_000, 97);
    queue.add("before");
    queue.add(large);
    queue.add("behind");
    const pieces = emptied(queue);
    expect(textOf(pieces)).to.equal(`before${large.toString()}behind`);
    expect(pieces[1]).to.equal(large);
  });

  it("content in pieces of any size leaves in the order in which it came", () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9000 }));
    const step = fc.oneof(
      fc.record({ size, octet: fc.integer({ min: 0, max: 255 }), isText: fc.boolean() }),
      fc.constant("shift" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new ContentQueue();
        let sent = "";
        let taken = "";
        for (const one of steps) {
          if (one === "shift") taken += queue.shift()?.toString("latin1") ?? "";
          else {
            const text = String.fromCharCode(one.octet).repeat(one.size);
            sent += text;
            queue.add(one.isText ? text : Buffer.from(text, "latin1"));
          }
        }
        expect(taken + textOf(emptied(queue)) === sent).to.equal(true);
      }),
    );
  });
});
