import { expect } from "chai";
import { ResponseMemory, WaitingResponse } from "../../src/http/response-memory.ts";
import { holdClock } from "./held-clock.ts";

describe("ResponseMemory", () => {
  const clock = holdClock();
  let cut: string[];
  let memory: ResponseMemory;
  let cuts = 0;

  beforeEach(() => {
    cut = [];
    cuts = 0;
    memory = new ResponseMemory(1_000_000, () => cuts++);
  });

  /** Returns a client that holds as many bytes as the test sets; `look` is called when the memory examines it. */
  const client = (name: string, look?: (response: WaitingResponse) => void): WaitingResponse => {
    const response: WaitingResponse = new WaitingResponse(memory, {
      look: () => look?.(response),
      cut: () => cut.push(name),
    });
    return response;
  };

  it("the response memory adds up what waits, and subtracts what was taken", () => {
    const [a, b] = [client("a"), client("b")];
    a.hold(1000, 0);
    b.hold(500, 0);
    a.hold(300, 700);
    expect(memory.heldBytes).to.equal(800);
    b.hold(0, 500);
    a.hold(0, 1000);
    expect(memory.heldBytes).to.equal(0);
  });

  it("the response memory cuts no client while there is room, even one that takes nothing for an hour", () => {
    client("a").hold(999_999, 0);
    clock.advance(3_600_000);
    memory.relieve();
    expect(cut).to.deep.equal([]);
  });

  it("the response memory cuts clients that have taken nothing for longest, until an eighth is free, and counts them", () => {
    for (const name of ["a", "b", "c", "d", "e"]) {
      client(name).hold(200_000, 0);
      clock.advance(10);
    }
    expect(memory.full).to.equal(true);
    memory.relieve();
    expect(cut).to.deep.equal([]);
    clock.advance(1000);
    memory.relieve();
    expect([cut, cuts, memory.heldBytes]).to.deep.equal([["a"], 1, 800_000]);
  });

  it("a client that took 4 KiB has made progress, one that took less has not", () => {
    const [a, b, c] = [client("a"), client("b"), client("c")];
    for (const response of [a, b, c]) {
      response.hold(400_000, 0);
      clock.advance(500);
    }
    a.hold(400_000, 4095);
    b.hold(400_000, 4096);
    clock.advance(999);
    memory.relieve();
    expect(cut).to.deep.equal(["a"]);
  });

  it("the response memory asks a client how much it has taken before it is cut", () => {
    const a = client("a", (response) => response.hold(500_000, 1_000_000));
    a.hold(600_000, 0);
    client("b").hold(600_000, 0);
    clock.advance(1000);
    memory.relieve();
    expect(cut).to.deep.equal(["b"]);
  });

  it("the response memory cuts without patience when much more waits than it may hold", () => {
    client("a").hold(600_000, 0);
    client("b").hold(649_999, 0);
    memory.relieve();
    expect(cut).to.deep.equal([]);
    client("c").hold(1, 0);
    memory.relieve();
    expect(cut).to.deep.equal(["a"]);
  });

  it("the response memory cuts by itself, in a later turn than the write that fills it", async () => {
    client("a").hold(1_300_000, 0);
    expect(cut).to.deep.equal([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cut).to.deep.equal(["a"]);
  });

  it("the response memory resumes stopped readers when there is room again, one for each 64 KiB of it", async () => {
    const a = client("a");
    a.hold(1_000_000, 0);
    const resumed: string[] = [];
    for (const name of ["x", "y", "z"]) {
      expect(memory.admit({ awaitsRoom: false, onRoom: () => resumed.push(name) })).to.equal(false);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(resumed).to.deep.equal([]);
    a.hold(900_000, 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resumed).to.deep.equal(["x", "y"]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resumed).to.deep.equal(["x", "y", "z"]);
  });

  it("a reader can stop again while it is resumed", async () => {
    const a = client("a");
    a.hold(1_000_000, 0);
    let calls = 0;
    const reader = {
      awaitsRoom: false,
      onRoom: () => {
        calls++;
        a.hold(calls < 4 ? 1_000_000 : 0, 0);
        expect(memory.admit(reader)).to.equal(calls === 4);
        a.hold(0, 0);
      },
    };
    expect(memory.admit(reader)).to.equal(false);
    a.hold(0, 0);
    while (calls < 4) await new Promise((resolve) => setImmediate(resolve));
  });

  it("a reader that asks again while it waits for room is resumed once", async () => {
    const a = client("a");
    a.hold(1_000_000, 0);
    let calls = 0;
    const reader = { awaitsRoom: false, onRoom: () => calls++ };
    for (let i = 0; i < 3; i++) expect(memory.admit(reader)).to.equal(false);
    a.hold(0, 0);
    while (calls === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).to.equal(1);
    expect(memory.admit(reader)).to.equal(true);
  });
});
