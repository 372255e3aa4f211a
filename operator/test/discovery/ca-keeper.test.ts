import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import {
  createCaKeeper,
  type CaKeeper,
  type CaKeeperOptions,
} from "@svc-gateway/operator/discovery/ca-keeper.ts";
import type { CaContent } from "@svc-gateway/operator/discovery/ca-store.ts";
import {
  createCertificateAuthority,
  loadCertificateAuthority,
} from "@svc-gateway/operator/discovery/certificate-authority.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import { createMemoryCaStore } from "./support/memory-ca-store.ts";

const hourMs = 60 * 60_000;
const yearMs = 365.25 * 24 * hourMs;
const svidLifetimeMs = 24 * hourMs;
const trustDomain = "example.org";

describe("the keeper of the certificate authority", () => {
  const keepers: CaKeeper[] = [];
  const keeperOf = (
    options: Partial<CaKeeperOptions> & Pick<CaKeeperOptions, "store" | "clock">,
  ): CaKeeper => {
    const keeper = createCaKeeper({
      mode: "auto",
      trustDomain,
      svidLifetimeMs,
      isLeading: () => true,
      log: silentLogger,
      ...options,
    });
    keepers.push(keeper);
    return keeper;
  };
  afterEach(() => {
    for (const keeper of keepers.splice(0)) keeper.stop();
  });
  const fresh = async (nowMs: number): Promise<CaContent> => ({
    ...(await createCertificateAuthority(trustDomain, nowMs)),
    retiredPem: "",
  });
  const rootOf = async (content: CaContent): Promise<string> => {
    const loaded = await loadCertificateAuthority(trustDomain, content);
    return loaded.ok ? loaded.value.rootPem : "";
  };

  it("the leader creates a missing authority, stores it and publishes its root", async () => {
    const store = createMemoryCaStore();
    const keeper = keeperOf({ store, clock: createManualClock() });
    expect(keeper.current()).to.equal(undefined);
    await keeper.reconcile();
    expect(keeper.current()?.authority.certificatePem).to.equal(store.content()?.certificatePem);
    expect(store.published()).to.equal(keeper.current()?.bundlePem);
  });

  it("a follower leaves creating the authority to the leader and adopts it", async () => {
    const store = createMemoryCaStore();
    const clock = createManualClock();
    const follower = keeperOf({ store, clock, isLeading: () => false });
    await follower.reconcile();
    expect(follower.current()).to.equal(undefined);
    expect(store.writes).to.have.length(0);
    const leader = keeperOf({ store, clock });
    await leader.reconcile();
    await until(() => follower.current() !== undefined, "the follower has the authority");
    expect(follower.current()?.bundlePem).to.equal(leader.current()?.bundlePem);
    expect(store.writes).to.have.length(1);
  });

  it("one authority is created even if several replicas act as leader", async () => {
    const store = createMemoryCaStore();
    const clock = createManualClock();
    const both = [keeperOf({ store, clock }), keeperOf({ store, clock })];
    await Promise.all(both.map((keeper) => keeper.reconcile()));
    await until(() => both.every((keeper) => keeper.current() !== undefined), "both have an authority");
    expect(store.writes).to.have.length(1);
    expect(both[0]?.current()?.bundlePem).to.equal(both[1]?.current()?.bundlePem);
  });

  it("the external mode waits until the Secret is written, and writes no authority", async () => {
    const store = createMemoryCaStore();
    const clock = createManualClock();
    const keeper = keeperOf({ store, clock, mode: "external" });
    await keeper.reconcile();
    expect(keeper.current()).to.equal(undefined);
    expect(store.writes).to.have.length(0);
    store.replace(await fresh(clock.nowMs()));
    await until(() => keeper.current() !== undefined, "the authority is there");
    await until(() => store.published() === keeper.current()?.bundlePem, "published");
    expect(store.writes).to.have.length(0);
  });

  it("the reason why there is no authority is logged once, and its resolution too", async () => {
    const store = createMemoryCaStore();
    const clock = createManualClock();
    const log = fakeLog();
    const keeper = keeperOf({ store, clock, mode: "external", log });
    await keeper.reconcile();
    await keeper.reconcile();
    store.replace(await fresh(clock.nowMs()));
    await until(() => keeper.current() !== undefined, "the authority is there");
    await keeper.reconcile();
    const levels = log.lines.map(({ level, message }) => `${level}: ${message}`);
    expect(levels).to.deep.equal([
      "warn: certificate authority is not ready",
      "debug: certificate authority is not ready",
      "info: certificate authority in use",
      "info: certificate authority is ready again",
    ]);
  });

  it("a replaced root stays trusted for two certificate lifetimes, across restarts of the controller", async () => {
    const clock = createManualClock();
    const old = await fresh(clock.nowMs());
    const store = createMemoryCaStore(old);
    const log = fakeLog();
    const keeper = keeperOf({ store, clock, mode: "external", log });
    await keeper.reconcile();
    const replacement = await fresh(clock.nowMs());
    store.replace(replacement);
    await until(() => keeper.current()?.authority.certificatePem === replacement.certificatePem, "replaced");
    const both = (await rootOf(replacement)) + (await rootOf(old));
    expect(keeper.current()?.bundlePem).to.equal(both);
    await until(() => store.content()?.retiredPem !== "", "the old root is remembered");
    keeper.stop();
    const logged = log.lines.filter(({ level }) => level === "info");
    expect(logged.map(({ message, fields }) => [message, fields["retired_roots"]])).to.deep.equal([
      ["certificate authority in use", 0],
      ["certificate authority in use", 1],
    ]);

    const restarted = keeperOf({ store, clock, mode: "external" });
    await restarted.reconcile();
    expect(restarted.current()?.bundlePem).to.equal(both);
    await clock.advance(2 * svidLifetimeMs - hourMs);
    await restarted.reconcile();
    expect(restarted.current()?.bundlePem).to.equal(both);
    await clock.advance(hourMs);
    await until(() => store.published() === replacement.certificatePem, "the old root is gone");
    expect(restarted.current()?.bundlePem).to.equal(replacement.certificatePem);
    await until(() => store.content()?.retiredPem === "", "nothing is remembered any more");
  });

  it("a restored root signs again, and the one that replaced it stays trusted", async () => {
    const clock = createManualClock();
    const [first, second] = [await fresh(clock.nowMs()), await fresh(clock.nowMs())];
    const store = createMemoryCaStore(first);
    const keeper = keeperOf({ store, clock, mode: "external" });
    await keeper.reconcile();
    store.replace(second);
    await keeper.reconcile();
    store.replace(first);
    await keeper.reconcile();
    expect(keeper.current()?.bundlePem).to.equal(first.certificatePem + second.certificatePem);
  });

  it("an authority that the controller created is replaced when a tenth of its lifetime is left", async () => {
    const clock = createManualClock();
    const store = createMemoryCaStore();
    const keeper = keeperOf({ store, clock });
    await keeper.reconcile();
    const first = store.content()?.certificatePem ?? "";
    await clock.advance(0);
    keeper.stop();

    const later = createManualClock(clock.nowMs() + 9 * yearMs - 24 * hourMs);
    const second = keeperOf({ store, clock: later });
    await second.reconcile();
    expect(store.content()?.certificatePem).to.equal(first);
    await later.advance(48 * hourMs);
    await until(() => store.content()?.certificatePem !== first, "replaced");
    await until(
      () => second.current()?.bundlePem.includes(first) === true,
      "the first root is trusted still",
    );
    expect(second.current()?.authority.certificatePem).to.equal(store.content()?.certificatePem);
    await until(() => store.published() === second.current()?.bundlePem, "published");
  });

  it("an authority that was provided externally is never replaced", async () => {
    const clock = createManualClock();
    const given = await fresh(clock.nowMs() - 9.5 * yearMs);
    const store = createMemoryCaStore(given);
    const keeper = keeperOf({ store, clock, mode: "external" });
    await keeper.reconcile();
    expect(store.content()?.certificatePem).to.equal(given.certificatePem);
    expect(keeper.current()?.authority.certificatePem).to.equal(given.certificatePem);
  });

  it("the last authority stays in use while the store is down or its content is invalid, and the read is retried", async () => {
    const clock = createManualClock();
    const store = createMemoryCaStore(await fresh(clock.nowMs()));
    const keeper = keeperOf({ store, clock, mode: "external" });
    store.setDown(true);
    await keeper.reconcile();
    expect(keeper.current()).to.equal(undefined);
    store.setDown(false);
    await clock.advance(5_000);
    await until(() => keeper.current() !== undefined, "read after the outage");
    const known = keeper.current();
    store.replace({ certificatePem: "nonsense", privateKeyPem: "nonsense", retiredPem: "" });
    await keeper.reconcile();
    expect(keeper.current()).to.equal(known);
    store.replace(undefined);
    await keeper.reconcile();
    expect(keeper.current()).to.equal(known);
  });

  it("an expired authority is not used", async () => {
    const clock = createManualClock();
    const store = createMemoryCaStore(await fresh(clock.nowMs() - 11 * yearMs));
    const keeper = keeperOf({ store, clock, mode: "external" });
    await keeper.reconcile();
    expect(keeper.current()).to.equal(undefined);
  });

  it("listeners are notified of each change of the authority, and of nothing else", async () => {
    const clock = createManualClock();
    const store = createMemoryCaStore(await fresh(clock.nowMs()));
    const keeper = keeperOf({ store, clock, mode: "external" });
    let calls = 0;
    const unsubscribe = keeper.subscribe(() => (calls += 1));
    await keeper.reconcile();
    await keeper.reconcile();
    expect(calls).to.equal(1);
    store.replace(await fresh(clock.nowMs()));
    await keeper.reconcile();
    expect(calls).to.equal(2);
    unsubscribe();
    store.replace(await fresh(clock.nowMs()));
    await keeper.reconcile();
    expect(calls).to.equal(2);
  });
});
