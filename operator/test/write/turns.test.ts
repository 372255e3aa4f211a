import { expect } from "chai";
import { createTurns } from "../../src/write/turns.ts";

describe("turns", () => {
  const partyOf = (key: string): string => key.slice(0, 1);
  const takeAll = (turns: ReturnType<typeof createTurns>): readonly string[] => {
    const taken: string[] = [];
    for (let key = turns.take(); key !== undefined; key = turns.take()) taken.push(key);
    return taken;
  };

  it("are taken by one party after the other, whatever each has waiting", () => {
    const turns = createTurns(partyOf);
    for (const key of ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]) turns.add(key);
    expect(turns.size).to.equal(7);
    expect(takeAll(turns)).to.deep.equal(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    expect(turns.size).to.equal(0);
  });

  it("count a key once, and again after it was taken", () => {
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

  it("let a party that comes late wait for one turn of each other at most", () => {
    const turns = createTurns(partyOf);
    for (const key of ["a1", "a2", "b1", "b2"]) turns.add(key);
    expect([turns.take(), turns.take()]).to.deep.equal(["a1", "b1"]);
    turns.add("c1");
    expect(takeAll(turns)).to.deep.equal(["a2", "b2", "c1"]);
  });
});
