import { expect } from "chai";
import { createEncoderSlots } from "../../src/filters/encoder-slots.ts";

describe("encoder slots", () => {
  it("are as many as said; whoever gets none is counted", () => {
    let skipped = 0;
    const slots = createEncoderSlots(2, { inc: () => skipped++ });
    expect([slots.take(), slots.take(), slots.take()]).to.deep.equal([true, true, false]);
    expect(skipped).to.equal(1);
    slots.free();
    expect([slots.take(), slots.take()]).to.deep.equal([true, false]);
    expect(skipped).to.equal(2);
  });
});
