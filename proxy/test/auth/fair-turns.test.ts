import { expect } from "chai";
import { FairTurns } from "../../src/auth/fair-turns.ts";

/** Work that ends when the test ends it. */
function controlled() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async (): Promise<string> => {
    started.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    return name;
  };
  const end = async (name: string): Promise<void> => {
    await settled();
    ends.get(name)?.();
    await settled();
  };
  return { started, work, end };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const wanted = (): boolean => true;

describe("turns of several owners", () => {
  it("fair turns run one piece of work at a time, and owners take turns", async () => {
    const turns = new FairTurns({ atOnce: 1, maxWaiting: 10 });
    const { started, work, end } = controlled();
    const done = ["a1", "a2", "a3", "b1", "c1"].map((name) => turns.run(name.charAt(0), wanted, work(name)));
    await settled();
    expect(started).to.deep.equal(["a1"]);
    for (const name of ["a1", "a2", "b1", "c1", "a3"]) await end(name);
    expect(started).to.deep.equal(["a1", "a2", "b1", "c1", "a3"]);
    expect(await Promise.all(done)).to.deep.equal(["a1", "a2", "a3", "b1", "c1"]);
  });

  it("fair turns answer busy to the last work of the owner with the most when another has no place", async () => {
    let refused = 0;
    const turns = new FairTurns({ atOnce: 1, maxWaiting: 2 }, () => refused++);
    const { work, end } = controlled();
    const names = ["a1", "a2", "a3", "b1"];
    const done = names.map((name) => turns.run(name.charAt(0), wanted, work(name)));
    expect(await done[2]).to.equal("busy");
    for (const name of ["a1", "a2", "b1"]) await end(name);
    expect(await Promise.all(done)).to.deep.equal(["a1", "a2", "busy", "b1"]);
    expect(refused).to.equal(1);
  });

  it("fair turns skip work that is no longer wanted when its turn comes", async () => {
    const turns = new FairTurns({ atOnce: 1, maxWaiting: 5 });
    const { started, work, end } = controlled();
    const first = turns.run("a", wanted, work("first"));
    const left = turns.run("a", () => false, work("left"));
    const last = turns.run("a", wanted, work("last"));
    await end("first");
    await end("last");
    expect(await Promise.all([first, left, last])).to.deep.equal(["first", "busy", "last"]);
    expect(started).to.deep.equal(["first", "last"]);
  });

  it("fair turns go on after work that fails, and answer busy to waiting work when closed", async () => {
    const turns = new FairTurns({ atOnce: 1, maxWaiting: 5 });
    const failed = turns.run("a", wanted, () => Promise.reject(new Error("no")));
    expect(await failed.catch((error: Error) => error.message)).to.equal("no");
    const { work, end } = controlled();
    const first = turns.run("a", wanted, work("first"));
    const waiting = turns.run("a", wanted, work("waiting"));
    turns.close();
    await end("first");
    expect(await Promise.all([first, waiting])).to.deep.equal(["first", "busy"]);
  });
});
