import { expect } from "chai";
import fc from "fast-check";
import { ReplayBuffer } from "../../src/http/replay-buffer.ts";

describe("replay buffer", () => {
  it("a replay buffer keeps what fits, from text and buffers of any size, and drops everything once it overflows", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, fc.nat(200), (arrays, maxBytes) => {
        const kept = new ReplayBuffer(maxBytes);
        const whole = Buffer.concat(arrays);
        for (const [index, array] of arrays.entries()) {
          const piece = Buffer.from(array);
          kept.add(index % 2 === 0 ? piece : piece.toString("latin1"));
        }
        expect(kept.overflowed).to.equal(whole.length > maxBytes);
        expect(kept.bytes).to.deep.equal(kept.overflowed ? Buffer.alloc(0) : whole);
      }),
    );
  });

  it("a replay buffer holds no memory of the sender and not much more than it keeps", () => {
    const kept = new ReplayBuffer(65_536);
    const slab = Buffer.alloc(65_536, "x");
    for (let i = 0; i < 3_000; i++) kept.add(slab.subarray(i, i + 1));
    slab.fill("y");
    expect(kept.bytes.toString()).to.equal("x".repeat(3_000));
    expect(kept.bytes.buffer.byteLength).to.be.at.most(6_000);
  });
});
