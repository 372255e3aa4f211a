import { expect } from "chai";
import { createReplicaWatch, type ReplicaWatch } from "@svc-gateway/proxy/source/replica-watch.ts";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";

const host = "controllers.svc";

describe("the watch for replicas", () => {
  let clock: ManualClock;
  let addresses: readonly string[] | undefined;
  let watch: ReplicaWatch;
  let calls: number;

  const watchOf = (name: string): ReplicaWatch =>
    createReplicaWatch({
      host: name,
      lookup: () =>
        addresses === undefined ? Promise.reject(new Error("no such name")) : Promise.resolve(addresses),
      clock,
      random: () => 0.5,
    });
  const wait = (delayMs: number): (() => void) => watch.schedule(delayMs, () => (calls += 1));

  beforeEach(() => {
    clock = createManualClock();
    addresses = undefined;
    calls = 0;
    watch = watchOf(host);
  });

  it("a wait ends when the first replica appears", async () => {
    await watch.lookup(host).catch(() => undefined);
    wait(30_000);
    await clock.advance(5_000);
    expect(calls).to.equal(0);
    addresses = ["10.0.0.1"];
    await clock.advance(1_000);
    expect(calls).to.equal(1);
    await clock.advance(60_000);
    expect(calls).to.equal(1);
  });

  it("a wait lasts its full time when only replicas that have failed remain", async () => {
    addresses = ["10.0.0.1", "10.0.0.2"];
    await watch.lookup(host);
    wait(30_000);
    addresses = ["10.0.0.2"];
    await clock.advance(29_999);
    expect(calls).to.equal(0);
    await clock.advance(1);
    expect(calls).to.equal(1);
  });

  it("a wait ends when another replica appears beside those that have failed", async () => {
    addresses = ["10.0.0.1"];
    await watch.lookup(host);
    wait(30_000);
    addresses = ["10.0.0.1", "10.0.0.2"];
    await clock.advance(1_000);
    expect(calls).to.equal(1);
  });

  it("replicas count as new after a failed lookup", async () => {
    addresses = ["10.0.0.1"];
    await watch.lookup(host);
    addresses = undefined;
    await watch.lookup(host).catch(() => undefined);
    wait(30_000);
    addresses = ["10.0.0.1"];
    await clock.advance(1_000);
    expect(calls).to.equal(1);
  });

  it("a cancelled wait never calls back", async () => {
    wait(30_000)();
    addresses = ["10.0.0.1"];
    await clock.advance(60_000);
    expect(calls).to.equal(0);
  });

  it("followers are notified of every new address once, and no longer after leaving", async () => {
    const seen: string[] = [];
    addresses = ["10.0.0.1"];
    await watch.lookup(host);
    const leave = watch.follow((added) => seen.push(...added));
    await clock.advance(2_000);
    addresses = ["10.0.0.1", "10.0.0.2"];
    await clock.advance(2_000);
    addresses = ["10.0.0.2", "10.0.0.3"];
    await clock.advance(2_000);
    expect(seen).to.deep.equal(["10.0.0.2", "10.0.0.3"]);
    leave();
    addresses = ["10.0.0.4"];
    await clock.advance(60_000);
    expect(seen).to.deep.equal(["10.0.0.2", "10.0.0.3"]);
    expect(clock.pending()).to.equal(0);
  });

  it("an IP address is never looked up", async () => {
    watch = watchOf("10.0.0.9");
    addresses = ["10.0.0.9"];
    wait(30_000);
    await clock.advance(29_999);
    expect(calls).to.equal(0);
    await clock.advance(1);
    expect(calls).to.equal(1);
  });
});
