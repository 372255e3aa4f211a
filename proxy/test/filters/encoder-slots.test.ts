import { expect } from "chai";
import { createEncoderSlots } from "../../src/filters/encoder-slots.ts";

describe("encoder slots", () => {
  it("encoder slots are bounded, and each response that gets none is counted", () => {
    let skipped = 0;
    const slots = createEncoderSlots(2, { inc: () => skipped++ });
    expect([slots.take(), slots.take(), slots.take()]).to.deep.equal([true, true, false]);
    expect(skipped).to.equal(1);
    slots.free();
    expect([slots.take(), slots.take()]).to.deep.equal([true, false]);
    expect(skipped).to.equal(2);
  });
});
