import { expect } from "chai";
import { atOnce, inSlices, mapInSteps, type Steps } from "../../src/timing/steps.ts";
import { backend, endpoints, harness, host, routeTo } from "../state/support.ts";
import { createSnapshot, fullUpdate } from "@svc-gateway/common/ir/snapshot.ts";

/** Steps of a millisecond each. */
function* busy(steps: number, onStep: () => void = () => {}): Steps<string> {
  for (let step = 0; step < steps; step++) {
    onStep();
    for (const endMs = performance.now() + 1; performance.now() < endMs;);
    yield;
  }
  return "done";
}

/** Counts the turns of the event loop while something is under way. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work.finally(() => (isOver = true));
  return turns;
}

describe("work in steps", () => {
  it("a result of work in steps is the same at once and in slices", async () => {
    const squares = (): Steps<number[]> => mapInSteps(Array(100).keys(), (item, index) => item * index);
    const expected = Array.from({ length: 100 }, (_, index) => index * index);
    expect(atOnce(squares())).to.deep.equal(expected);
    expect(await inSlices(squares())).to.deep.equal(expected);
  });

  it("slices of work let the event loop run in between", async () => {
    let steps = 0;
    expect(await turnsDuring(inSlices(busy(40, () => steps++)))).to.be.at.least(5);
    expect(steps).to.equal(40);
  });

  it("an error in a step rejects the work in slices", async () => {
    let steps = 0;
    const work = inSlices(
      busy(20, () => {
        if (++steps === 12) throw new Error("a step failed");
      }),
    );
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error).with.property("message", "a step failed");
  });

  it("an update is staged in slices, during which the state before it serves, and is applied as a whole", async () => {
    const { state, move, route } = harness();
    const hosts = 4_000;
    const world = (path: string) => [
      endpoints("ns/web/http", "10.0.0.1"),
      ...Array.from({ length: hosts }, (_, index) =>
        host(`h${index}.example.com`, [routeTo(`r${index}`, path, [backend("ns/web/http")])]),
      ),
    ];
    expect(move(...world("/old")).ok).to.equal(true);
    const served = (path: string): number =>
      Array.from({ length: hosts }, (_, index) => route(`h${index}.example.com`, path)).filter(Boolean)
        .length;
    const staging = state.stage(fullUpdate(createSnapshot(world("/new"))));
    const seen = new Set<number>();
    const turns = await turnsDuring(
      (async () => {
        for (let i = 0; i < 3; i++) {
          await new Promise((resolve) => setImmediate(resolve));
          seen.add(served("/old"));
        }
        await staging;
      })(),
    );
    expect(turns).to.be.at.least(4);
    expect([...seen]).to.deep.equal([hosts]);
    const staged = await staging;
    if (!staged.ok) throw new Error(staged.error.message);
    expect([served("/old"), served("/new")]).to.deep.equal([hosts, 0]);
    await staged.value.commit();
    expect([served("/old"), served("/new")]).to.deep.equal([0, hosts]);
  });

  it("an update that is refused in slices changes nothing", async () => {
    const { state, move, route } = harness();
    move(
      endpoints("ns/web/http", "10.0.0.1"),
      host("a.example.com", [routeTo("a", "/", [backend("ns/web/http")])]),
    );
    const refused = await state.stage(
      fullUpdate(
        createSnapshot([host("a.example.com", [routeTo("a", "/new", [backend("ns/missing/http")])])]),
      ),
    );
    expect(refused.ok ? "" : refused.error.message).to.include("ns/missing/http");
    expect(route("a.example.com", "/")?.id).to.equal("a");
  });

  it("a route that changes without its uses keeps its counts, and is removed with them", () => {
    const { state, move } = harness();
    const web = endpoints("ns/web/http", "10.0.0.1");
    const at = (path: string) => host("a.example.com", [routeTo("a", path, [backend("ns/web/http")])]);
    move(web, at("/"));
    const before = state.counts;
    expect(move(web, at("/other")).ok).to.equal(true);
    expect(state.counts).to.deep.equal(before);
    const removed = move(web);
    expect(removed.ok && [...removed.value.removedRoutes]).to.deep.equal(["a"]);
    expect(state.counts).to.deep.equal({ hosts: 0, routes: { ingress: 0, gateway: 0 } });
  });
});
