import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect } from "chai";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  startController,
  stopController,
  stopControllers,
  type TestController,
  type TestControllerOptions,
} from "../../../operator/test/discovery/support/controller.ts";
import { createMemoryCaStore } from "../../../operator/test/discovery/support/memory-ca-store.ts";
import { startProxy, stopProxies, type TestProxy, type TestProxyOptions } from "./rig.ts";

const shared = { kind: "shared" } as const;
const addresses = ["127.0.0.1", "127.0.0.2"];

/** Two replicas with one authority on two addresses and the same ports, as behind a headless Service. */
async function startReplicas(
  options: TestControllerOptions = {},
): Promise<{ readonly replicas: readonly [TestController, TestController]; readonly bundlePem: string }> {
  const store = createMemoryCaStore();
  for (let tries = 0; ; tries += 1) {
    const first = await startController({ ...options, store, host: "127.0.0.1", leading: true });
    const bundlePem = await ready(first);
    try {
      const second = await startController({
        ...options,
        ...first.ports,
        store,
        host: "127.0.0.2",
        leading: false,
      });
      await ready(second);
      return { replicas: [first, second], bundlePem };
    } catch (error) {
      // The port is taken on the other address.
      if (tries === 5) throw error;
      await stopController(first.server);
    }
  }
}

describe("two replicas", () => {
  let replicas: readonly [TestController, TestController];
  let bundlePem: string;

  afterEach(async () => {
    await stopProxies();
    await stopControllers();
  });

  const start = async (options?: TestControllerOptions): Promise<void> => {
    ({ replicas, bundlePem } = await startReplicas(options));
  };
  const proxyOf = (options: Partial<TestProxyOptions> = {}): Promise<TestProxy> =>
    startProxy({ ports: replicas[0].ports, bundlePem, addresses, ...options });
  const publish = (states: Readonly<Record<string, number>>): void => {
    for (const { server } of replicas) server.cache.publish([[shared, snapshotOf(states)]]);
  };
  const serves = (proxy: TestProxy, states: Readonly<Record<string, number>>): Promise<void> => {
    const { version } = snapshotOf(states);
    return until(() => proxy.state.snapshot().version === version, JSON.stringify(states));
  };
  const isAt = (replica: TestController): boolean => replica.server.fleet.node("proxy-1") !== undefined;

  it("a proxy at a follower moves to the leader once it can be found", async () => {
    await start();
    const clock = createManualClock();
    publish({ a: 1 });
    const proxy = await proxyOf({ clock, addresses: ["127.0.0.2"] });
    await serves(proxy, { a: 1 });
    expect(isAt(replicas[1])).to.equal(true);
    proxy.setAddresses(addresses);
    await clock.advance(1_999);
    expect(isAt(replicas[0])).to.equal(false);
    await clock.advance(1);
    await until(() => isAt(replicas[0]) && !isAt(replicas[1]), "moved to the leader");
    expect(proxy.history).to.deep.equal(["Ready"]);
    expect(proxy.metrics.reconnects.with({}).value).to.equal(0);
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
  });

  it("a proxy stays where it is while there is no leader, and looks for one every two seconds", async () => {
    await start();
    replicas[0].leadership.set(false);
    const clock = createManualClock();
    publish({ a: 1 });
    const proxy = await proxyOf({ clock, addresses: ["127.0.0.2"] });
    await serves(proxy, { a: 1 });
    proxy.setAddresses(addresses);
    for (let round = 1; round <= 3; round += 1) {
      await clock.advance(2_000);
      await until(() => replicas[0].streamCount("accepted") === round, `round ${round}`);
      await until(() => !isAt(replicas[0]), "the search has ended");
    }
    expect(isAt(replicas[1])).to.equal(true);
    replicas[0].leadership.set(true);
    await clock.advance(2_000);
    await until(() => isAt(replicas[0]) && !isAt(replicas[1]), "moved to the leader");
    expect(proxy.history).to.deep.equal(["Ready"]);
  });

  it("a proxy stays when its replica becomes the leader", async () => {
    await start();
    const clock = createManualClock();
    publish({ a: 1 });
    replicas[0].leadership.set(false);
    const proxy = await proxyOf({ clock, addresses: ["127.0.0.2"] });
    await serves(proxy, { a: 1 });
    replicas[1].leadership.set(true);
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
    proxy.setAddresses(addresses);
    await clock.advance(60_000);
    expect(replicas[0].streamCount("accepted")).to.equal(0);
    expect(isAt(replicas[1])).to.equal(true);
  });

  it("the other replica takes over at once, and no update is lost", async () => {
    await start();
    publish({ a: 1 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 1 });
    await until(() => isAt(replicas[0]) && !isAt(replicas[1]), "connected to the leader");
    // What is published while the leader dies reaches the proxy through the other one.
    const stopped = stopController(replicas[0].server);
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
    await stopped;
    replicas[1].leadership.set(true);
    publish({ a: 3 });
    await serves(proxy, { a: 3 });
    await until(() => replicas[1].server.fleet.node("proxy-1")?.isInSync === true, "acknowledged");
    expect(proxy.metrics.reconnects.with({}).value).to.equal(1);
    expect(proxy.state.updates.map(({ full }) => full)).to.include.members([true, false]);
  });

  it("a proxy follows a new leader that is behind the old one, and then with it to the present state", async () => {
    await start();
    publish({ a: 1, b: 1 });
    replicas[0].server.cache.publish([[shared, snapshotOf({ a: 2 })]]);
    const proxy = await proxyOf();
    await serves(proxy, { a: 2 });
    await until(() => isAt(replicas[0]) && !isAt(replicas[1]), "connected to the leader");
    const before = proxy.state.updates.length;
    await stopController(replicas[0].server);
    replicas[1].leadership.set(true);
    await serves(proxy, { a: 1, b: 1 });
    replicas[1].server.cache.publish([[shared, snapshotOf({ a: 2 })]]);
    await serves(proxy, { a: 2 });
    await until(() => replicas[1].server.fleet.node("proxy-1")?.isInSync === true, "acknowledged");
    // The first update of a stream is whole, because it builds upon nothing.
    expect(proxy.state.updates.slice(before).map(({ full }) => full)).to.deep.equal([true, false]);
  });

  it("a proxy that reaches only one replica is served by it", async () => {
    await start();
    publish({ a: 1 });
    const proxy = await proxyOf({ addresses: ["127.0.0.3", "127.0.0.4", "127.0.0.2"] });
    await serves(proxy, { a: 1 });
    expect(isAt(replicas[1])).to.equal(true);
  });

  it("a proxy follows a name whose addresses change", async () => {
    await start();
    publish({ a: 1 });
    const proxy = await proxyOf({ addresses: ["127.0.0.1"] });
    await serves(proxy, { a: 1 });
    proxy.setAddresses(["127.0.0.2"]);
    await stopController(replicas[0].server);
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
  });

  it("a proxy finds a replica while it still waits for an address that does not answer", async () => {
    await start();
    publish({ a: 1 });
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(replicas[0].ports.streamPort, "127.0.0.3", resolve));
    try {
      const asked = once(silent, "connection") as Promise<[Socket]>;
      const clock = createManualClock();
      const proxy = await proxyOf({ addresses: ["127.0.0.1"], clock });
      await serves(proxy, { a: 1 });
      proxy.setAddresses(["127.0.0.3"]);
      await stopController(replicas[0].server);
      const [connection] = await asked;
      publish({ a: 2 });
      proxy.setAddresses(["127.0.0.3", "127.0.0.2"]);
      // Long before the silent address is given up.
      await clock.advance(2_000);
      await serves(proxy, { a: 2 });
      connection.destroy();
    } finally {
      silent.close();
    }
  });
});
