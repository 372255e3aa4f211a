import { expect } from "chai";
import { FairQueue } from "../../src/auth/fair-queue.ts";

/** Empties the queue; returns its items in the order of their turns. */
function drain(queue: FairQueue<string>): readonly string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

describe("a queue of several owners", () => {
  it("the fair queue is first in, first out for one owner", () => {
    const queue = new FairQueue<string>(3);
    for (const item of ["1", "2", "3"]) expect(queue.push("a", item)).to.equal(undefined);
    expect(queue.push("a", "4")).to.equal("4");
    expect(drain(queue)).to.deep.equal(["1", "2", "3"]);
    expect(queue.push("a", "5")).to.equal(undefined);
    expect(drain(queue)).to.deep.equal(["5"]);
  });

  it("the fair queue lets owners take turns, even when one of them has more waiting", () => {
    const queue = new FairQueue<string>(10);
    for (const item of ["a1", "a2", "a3", "a4"]) queue.push("a", item);
    expect(queue.shift()).to.equal("a1");
    for (const item of ["b1", "b2"]) queue.push("b", item);
    queue.push("c", "c1");
    expect(drain(queue)).to.deep.equal(["a2", "b1", "c1", "a3", "b2", "a4"]);
  });

  it("the fair queue evicts the last item of the owner with the most for an owner with fewer", () => {
    const queue = new FairQueue<string>(4);
    for (const item of ["a1", "a2", "a3", "a4"]) queue.push("a", item);
    expect(queue.push("b", "b1")).to.equal("a4");
    expect(queue.push("b", "b2")).to.equal("a3");
    // Two each: neither has more than the other would have with one more.
    expect(queue.push("b", "b3")).to.equal("b3");
    expect(queue.push("a", "a5")).to.equal("a5");
    expect(queue.push("c", "c1")).to.equal("a2");
    expect(drain(queue)).to.have.members(["a1", "b1", "b2", "c1"]);
  });

  it("a fair queue with a capacity of 0 accepts nothing", () => {
    const queue = new FairQueue<string>(0);
    expect(queue.push("a", "1")).to.equal("1");
    expect(queue.shift()).to.equal(undefined);
  });
});
