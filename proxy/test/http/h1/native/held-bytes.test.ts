import { expect } from "chai";
import fc from "fast-check";
import { HeldBytes } from "../../../../src/http/h1/native/held-bytes.ts";

describe("HeldBytes", () => {
  it("HeldBytes gives what was added and not consumed, and never changes what it gave", () => {
    const step = fc.record({
      bytes: fc.uint8Array({ minLength: 1, maxLength: 50 }),
      owned: fc.boolean(),
      from: fc.nat(50),
      consume: fc.nat(60),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const held = new HeldBytes();
        let expected: number[] = [];
        const given: { readonly view: Buffer; readonly copy: Buffer }[] = [];
        for (const { bytes, owned, from, consume } of steps) {
          const memory = Buffer.from(bytes);
          const start = Math.min(from, bytes.length);
          held.add({ owned, bytes: memory }, start);
          if (!owned) memory.fill(0);
          expected.push(...bytes.subarray(start));
          expect([...held.bytes]).to.deep.equal(expected);
          given.push({ view: held.bytes, copy: Buffer.from(held.bytes) });
          const size = Math.min(consume, held.length);
          held.consume(size);
          expected = expected.slice(size);
          expect(held.length).to.equal(expected.length);
        }
        for (const { view, copy } of given) expect(view).to.deep.equal(copy);
      }),
    );
  });

  it("HeldBytes leaves alone what follows a held part of a read", () => {
    const held = new HeldBytes();
    const read = Buffer.from("abcdef");
    held.add({ owned: true, bytes: read }, 1, 3);
    held.add({ owned: false, bytes: Buffer.from("xyz") }, 0);
    expect(held.bytes.toString()).to.equal("bcxyz");
    expect(read.toString()).to.equal("abcdef");
  });

  it("HeldBytes keeps a single read that is its own, and joins small ones", () => {
    const held = new HeldBytes();
    const read = Buffer.from("abc");
    held.add({ owned: true, bytes: read }, 0);
    expect(held.bytes).to.equal(read);
    for (let i = 0; i < 10_000; i++) held.add({ owned: true, bytes: Buffer.allocUnsafeSlow(1) }, 0);
    expect(held.memoryBytes).to.be.below(2 * held.length + 1024);
    held.consume(held.length);
    expect(held.memoryBytes).to.equal(0);
  });
});
