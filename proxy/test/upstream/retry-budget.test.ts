import { expect } from "chai";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";

/** How many retries can be taken at once. */
function drain(budget: RetryBudget, nowMs: number): number {
  let taken = 0;
  while (taken < 10_000 && budget.withdraw(nowMs)) taken++;
  return taken;
}

describe("retry budget", () => {
  it("the retry budget starts with a hundred retries and never saves more", () => {
    const budget = new RetryBudget(0);
    for (let i = 0; i < 10_000; i++) budget.deposit();
    expect(drain(budget, 1_000_000)).to.equal(100);
  });

  it("the retry budget gains ten retries per second", () => {
    const budget = new RetryBudget(0);
    drain(budget, 0);
    expect(drain(budget, 99)).to.equal(0);
    expect(drain(budget, 100)).to.equal(1);
    expect(drain(budget, 2_100)).to.equal(20);
  });

  it("the retry budget gains a fifth of a retry per request, so an outage costs at most a fifth more", () => {
    const budget = new RetryBudget(0);
    drain(budget, 0);
    let retries = 0;
    for (let request = 0; request < 1_000; request++) {
      budget.deposit();
      retries += drain(budget, 0);
    }
    expect(retries).to.be.within(199, 200);
  });
});
