import { expect } from "chai";
import { AnswerLimit } from "../../src/worker/answer-limit.ts";

/** The number of times that the limit reads the wait of the thread before it expires. The last of `waits` repeats. */
async function askedUntilExpiry(limitMs: number, waits: readonly (number | undefined)[]): Promise<number> {
  let asked = 0;
  await new Promise<void>((resolve) => {
    const waited = (): number | undefined => waits[Math.min(asked++, waits.length - 1)];
    const limit = new AnswerLimit(() => resolve(limit.clear()), limitMs, waited);
  });
  return asked;
}

describe("the limit of an answer", () => {
  it("the limit expires when the thread has not waited for a processor", async () => {
    expect(await askedUntilExpiry(10, [500])).to.equal(2);
  });

  it("the limit expires when it is not known how long the thread has waited", async () => {
    expect(await askedUntilExpiry(10, [undefined])).to.equal(2);
    expect(await askedUntilExpiry(10, [500, undefined])).to.equal(2);
  });

  it("what the thread has waited for a processor is added, until it waits no more", async () => {
    expect(await askedUntilExpiry(10, [500, 505, 510, 510])).to.equal(4);
  });

  it("the limit expires after six times its length even if the thread still waits", async () => {
    // Each time it has waited all the time: the limit once, and five times what is added.
    const always = Array.from({ length: 50 }, (_, index) => index * 10);
    expect(await askedUntilExpiry(10, always)).to.equal(7);
  });

  it("the limit does not expire when the answer has come", async () => {
    const expiries: string[] = [];
    const cleared = new AnswerLimit(
      () => expiries.push("cleared"),
      2,
      () => 0,
    );
    cleared.clear();
    await askedUntilExpiry(10, [0]);
    expect(expiries).to.deep.equal([]);
  });
});
