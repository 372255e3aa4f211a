import { expect } from "chai";
import { createTurns } from "../../src/write/turns.ts";

describe("turns", () => {
  const partyOf = (key: string): string => key.slice(0, 1);
  const takeAll = (turns: ReturnType<typeof createTurns>): readonly string[] => {
    const taken: string[] = [];
    for (let key = turns.take(); key !== undefined; key = turns.take()) taken.push(key);
    return taken;
  };

  it("the parties take turns, regardless of how many keys each has", () => {
    const turns = createTurns(partyOf);
    for (const key of ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]) turns.add(key);
    expect(turns.size).to.equal(7);
    expect(takeAll(turns)).to.deep.equal(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    expect(turns.size).to.equal(0);
  });

  it("a key counts once until it is taken", () => {
    const turns = createTurns(partyOf);
    turns.add("a1");
    turns.add("a1");
    expect(takeAll(turns)).to.deep.equal(["a1"]);
    turns.add("a1");
    expect(takeAll(turns)).to.deep.equal(["a1"]);
    turns.add("a1");
    turns.clear();
    expect(turns.take()).to.equal(undefined);
  });

  it("a new party waits for at most one turn of each other party", () => {
    const turns = createTurns(partyOf);
    for (const key of ["a1", "a2", "b1", "b2"]) turns.add(key);
    expect([turns.take(), turns.take()]).to.deep.equal(["a1", "b1"]);
    turns.add("c1");
    expect(takeAll(turns)).to.deep.equal(["a2", "b2", "c1"]);
  });
});
