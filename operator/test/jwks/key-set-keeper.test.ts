import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { createKeySetKeeper, type KeySetFetch } from "../../src/jwks/key-set-keeper.ts";

const jwk = (kid: string): object => ({
  ...generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }),
  kid,
});
const url = "https://id.example/jwks";
const wanted = (refreshMs: number): ReadonlyMap<string, number> => new Map([[url, refreshMs]]);

function rig() {
  const clock = createManualClock(0);
  const log = fakeLog();
  const asked: { readonly url: string; readonly atMs: number }[] = [];
  const state: { answer: Result<unknown>; changes: number; takesMs: number } = {
    answer: problem("away"),
    changes: 0,
    takesMs: 0,
  };
  const fetches: KeySetFetch[] = [];
  const failing: number[] = [];
  const keeper = createKeySetKeeper({
    async fetch(one) {
      asked.push({ url: one, atMs: clock.nowMs() });
      if (state.takesMs > 0) await new Promise<void>((done) => void clock.schedule(state.takesMs, done));
      return state.answer;
    },
    onChange: () => state.changes++,
    onFetched: (fetch) => fetches.push(fetch),
    onFailing: (count) => failing.push(count),
    clock,
    log,
  });
  const kids = (): readonly (string | undefined)[] | undefined =>
    keeper.fetched.get(url)?.keys?.map(({ kid }) => kid);
  return { clock, asked, state, keeper, kids, log, fetches, failing };
}

describe("the keeper of key sets", () => {
  it("a key set is fetched at once and then at its interval, and only changes are announced", async () => {
    const { clock, asked, state, keeper, kids } = rig();
    const set = { keys: [jwk("a")] };
    state.answer = ok(set);
    keeper.want(wanted(60_000));
    await clock.advance(0);
    expect(kids()).to.deep.equal(["a"]);
    const { fetched } = keeper;
    state.answer = ok({ other: 1, keys: [...set.keys] });
    await clock.advance(120_000);
    expect(asked.map(({ atMs }) => atMs)).to.deep.equal([0, 60_000, 120_000]);
    expect([state.changes, keeper.fetched === fetched]).to.deep.equal([1, true]);
    state.answer = ok({ keys: [jwk("b")] });
    await clock.advance(60_000);
    expect([state.changes, kids()]).to.deep.equal([2, ["b"]]);
  });

  it("each fetch is reported with its result, its duration and how many key sets fail", async () => {
    const { clock, state, keeper, fetches, failing } = rig();
    state.takesMs = 250;
    keeper.want(wanted(5_000));
    await clock.advance(250);
    expect([fetches.at(-1), failing.at(-1)]).to.deep.equal([{ result: "error", durationMs: 250 }, 1]);
    state.answer = ok({ keys: "none" });
    await clock.advance(5_250);
    expect([fetches.at(-1), failing.at(-1)]).to.deep.equal([{ result: "rejected", durationMs: 250 }, 1]);
    state.answer = ok({ keys: [jwk("a")] });
    await clock.advance(5_250);
    expect([fetches.at(-1), failing.at(-1)]).to.deep.equal([{ result: "ok", durationMs: 250 }, 0]);
    expect(fetches).to.have.length(3);
  });

  it("a key set that fails and is not wanted any more does not fail any more", async () => {
    const { clock, keeper, failing } = rig();
    keeper.want(wanted(5_000));
    await clock.advance(0);
    expect(failing.at(-1)).to.equal(1);
    keeper.want(new Map());
    expect(failing.at(-1)).to.equal(0);
  });

  it("the unusable keys of the last valid set are remembered while fetching fails", async () => {
    const { clock, state, keeper } = rig();
    state.answer = ok({ keys: [jwk("a"), { kty: "oct", k: "AA" }] });
    keeper.want(wanted(60_000));
    await clock.advance(0);
    const { unusable } = keeper.fetched.get(url) ?? {};
    expect(unusable).to.have.lengthOf(1);
    state.answer = problem("away");
    await clock.advance(60_000);
    expect(keeper.fetched.get(url)).to.deep.include({ unusable, problem: "away" });
  });

  it("the first fetch, a failed fetch and a recovery are logged", async () => {
    const { clock, state, keeper, log } = rig();
    keeper.want(wanted(5_000));
    await clock.advance(0);
    state.answer = ok({ keys: [jwk("a")] });
    await clock.advance(10_000);
    state.answer = problem("away");
    await clock.advance(5_000);
    state.answer = ok({ keys: [jwk("a")] });
    await clock.advance(5_000);
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      "warn key set fetch failed",
      "info key set fetched",
      "warn key set fetch failed",
      "info key set fetched",
    ]);
  });

  it("the last valid set is kept while fetching fails, and retries double from 5 s up to the interval", async () => {
    const { clock, asked, state, keeper, kids } = rig();
    state.answer = ok({ keys: [jwk("a")] });
    keeper.want(wanted(30_000));
    await clock.advance(0);
    state.answer = problem("away");
    await clock.advance(30_000 + 5_000 + 10_000 + 20_000 + 30_000);
    expect(asked.map(({ atMs }) => atMs)).to.deep.equal([0, 30_000, 35_000, 45_000, 65_000, 95_000]);
    expect(keeper.fetched.get(url)?.problem).to.equal("away");
    expect(kids()).to.deep.equal(["a"]);
  });

  it("a set without a usable key counts as a failure", async () => {
    const { clock, state, keeper } = rig();
    state.answer = ok({ keys: [{ kty: "oct", k: "c2VjcmV0" }] });
    keeper.want(wanted(30_000));
    await clock.advance(0);
    expect(keeper.fetched.get(url)).to.deep.equal({
      keys: undefined,
      unusable: [],
      problem:
        "it holds no usable key: key 1 is of a type, or for an algorithm, that is not accepted (kty, crv, alg)",
    });
  });

  it("a set that is no longer wanted is dropped, and nothing is fetched after stop", async () => {
    const { clock, asked, state, keeper } = rig();
    state.answer = ok({ keys: [jwk("a")] });
    keeper.want(wanted(30_000));
    await clock.advance(0);
    keeper.want(new Map());
    expect([keeper.fetched.size, clock.pending()]).to.deep.equal([0, 0]);
    keeper.want(wanted(30_000));
    await clock.advance(0);
    keeper.stop();
    keeper.want(wanted(30_000));
    await clock.advance(120_000);
    expect([asked.length, clock.pending()]).to.deep.equal([2, 0]);
  });

  it("a set that was dropped and is wanted again while queued is fetched once", async () => {
    const clock = createManualClock(0);
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const keeper = createKeySetKeeper({
      fetch: (one) => {
        asked.push(one);
        return new Promise((resolve) => answers.push(() => resolve(ok({ keys: [jwk("a")] }))));
      },
      onChange: () => {},
      clock,
      log: fakeLog(),
    });
    const others = Array.from({ length: 8 }, (_, index): [string, number] => [`${url}/${index}`, 60_000]);
    keeper.want(new Map([...others, [url, 60_000]]));
    keeper.want(new Map(others));
    keeper.want(new Map([...others, [url, 60_000]]));
    for (const answer of answers.splice(0)) answer();
    await clock.advance(0);
    for (const answer of answers.splice(0)) answer();
    await clock.advance(0);
    await clock.advance(60_000);
    for (const answer of answers.splice(0)) answer();
    await clock.advance(0);
    expect(asked.filter((one) => one === url)).to.have.length(2);
    keeper.stop();
  });

  it("a fetch that throws counts as a failure", async () => {
    const clock = createManualClock(0);
    const keeper = createKeySetKeeper({
      fetch: () => Promise.reject(new Error("a bug")),
      onChange: () => {},
      clock,
      log: fakeLog(),
    });
    keeper.want(wanted(30_000));
    await clock.advance(0);
    expect(keeper.fetched.get(url)?.problem).to.equal("internal error: Error: a bug");
    keeper.stop();
  });
});
