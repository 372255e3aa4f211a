import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { startRelay } from "../../../common/test/relay.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  startController,
  stopController,
  stopControllers,
  type TestController,
} from "../../../operator/test/discovery/support/controller.ts";
import { startProxy, stopProxies, type TestProxy, type TestProxyOptions } from "./rig.ts";

const shared = { kind: "shared" } as const;

describe("the discovery channel", () => {
  let controller: TestController;
  let bundlePem: string;

  beforeEach(async () => {
    controller = await startController();
    bundlePem = await ready(controller);
  });
  afterEach(async () => {
    await stopProxies();
    await stopControllers();
  });

  const publish = (states: Readonly<Record<string, number>>): void =>
    controller.server.cache.publish([[shared, snapshotOf(states)]]);
  const proxyOf = (options: Partial<TestProxyOptions> = {}): Promise<TestProxy> =>
    startProxy({ ports: controller.ports, bundlePem, ...options });
  const serves = (proxy: TestProxy, states: Readonly<Record<string, number>>): Promise<void> => {
    const { version } = snapshotOf(states);
    return until(() => proxy.state.snapshot().version === version, `version ${version}`);
  };

  it("a proxy gets the snapshot and then its changes, and acknowledges them", async () => {
    publish({ a: 1, b: 1 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 1, b: 1 });
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
    expect(proxy.state.updates.map(({ full }) => full)).to.deep.equal([true, false]);
    await until(() => controller.server.fleet.node("proxy-1")?.isInSync === true, "acknowledged");
    expect(proxy.metrics.bootstraps.with({ result: "success" }).value).to.equal(1);
    expect(proxy.metrics.snapshots.with({ kind: "full", result: "ok" }).value).to.equal(1);
    expect(proxy.metrics.snapshots.with({ kind: "delta", result: "ok" }).value).to.equal(1);
    expect(proxy.metrics.reconnects.with({}).value).to.equal(0);
    expect(proxy.metrics.svidExpiry.with({}).value).to.be.closeTo(24 * 3600, 60);
  });

  it("a proxy is Ready with the first snapshot and reports that with its ports", async () => {
    const proxy = await proxyOf();
    expect(proxy.client.state()).to.equal("Pending");
    expect(proxy.metrics.state.with({}).value).to.equal(0);
    proxy.client.setBoundPorts([443, 80]);
    publish({ a: 1 });
    await until(() => proxy.client.state() === "Ready", "Ready");
    expect(proxy.metrics.state.with({}).value).to.equal(1);
    const node = () => controller.server.fleet.node("proxy-1");
    await until(() => node()?.health === "ready" && node()?.boundPorts.length === 2, "the reports");
    expect(node()?.release).to.equal("1.2.3");
    expect(node()?.unknownFields).to.deep.equal([]);
    expect(node()?.boundPorts).to.deep.equal([80, 443]);
    proxy.client.setBoundPorts([80]);
    await until(() => node()?.boundPorts.length === 1, "the changed ports");
  });

  it("several changes are merged while a proxy is busy", async () => {
    publish({ a: 0 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 0 });
    const unblock = proxy.state.block();
    publish({ a: 1 });
    for (let state = 2; state <= 50; state += 1) publish({ a: state });
    unblock();
    await serves(proxy, { a: 50 });
    expect(proxy.state.updates.length).to.be.lessThan(5);
  });

  it("a proxy that rejects a snapshot keeps what it has, reports why, and accepts the next valid one", async () => {
    publish({ a: 1 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 1 });
    proxy.state.refuse("no such listener");
    publish({ a: 2 });
    await until(
      () => proxy.metrics.snapshots.with({ kind: "full", result: "nack" }).value >= 2,
      "three refusals",
    );
    expect(proxy.state.snapshot().version).to.equal(snapshotOf({ a: 1 }).version);
    expect(proxy.client.state()).to.equal("Ready");
    expect(controller.server.fleet.node("proxy-1")?.lastAckedVersion).to.equal(snapshotOf({ a: 1 }).version);
  });

  it("a proxy gets deltas again after a rejected update was repaired", async () => {
    publish({ a: 1 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 1 });
    proxy.state.refuse("not now", 1);
    publish({ a: 2, b: 1 });
    await serves(proxy, { a: 2, b: 1 });
    expect(proxy.metrics.snapshots.with({ kind: "delta", result: "nack" }).value).to.equal(1);
    expect(proxy.state.updates.at(-1)?.full).to.equal(true);
    publish({ a: 3, b: 1 });
    await serves(proxy, { a: 3, b: 1 });
    expect(proxy.state.updates.at(-1)?.full).to.equal(false);
  });

  it("a proxy keeps serving as Degraded while the controller is down, and is Ready when it returns", async () => {
    publish({ a: 1 });
    const proxy = await proxyOf();
    await serves(proxy, { a: 1 });
    const { ports, store } = controller;
    await stopController(controller.server);
    await until(() => proxy.client.state() === "Degraded", "Degraded");
    expect(proxy.metrics.state.with({}).value).to.equal(2);
    expect(proxy.state.snapshot().version).to.equal(snapshotOf({ a: 1 }).version);
    controller = await startController({ ...ports, store });
    await until(() => proxy.metrics.reconnects.with({}).value > 1, "it tries");
    publish({ a: 2 });
    await serves(proxy, { a: 2 });
    await until(() => proxy.client.state() === "Ready", "Ready again");
    expect(proxy.history).to.deep.equal(["Ready", "Degraded", "Ready"]);
    expect(proxy.metrics.bootstraps.with({ result: "success" }).value).to.equal(1);
  });

  it("a proxy waits for a controller that has not published yet", async () => {
    const proxy = await proxyOf();
    await until(() => controller.streamCount("rejected") >= 2, "two attempts");
    expect(proxy.client.state()).to.equal("Pending");
    publish({ a: 1 });
    await serves(proxy, { a: 1 });
  });

  it("a proxy reads its token and trust bundle again for each attempt", async () => {
    publish({ a: 1 });
    const other = await startController();
    const proxy = await proxyOf({ token: "wrong", bundlePem: await ready(other) });
    const failures = (): number => proxy.metrics.bootstraps.with({ result: "failure" }).value;
    await until(() => failures() >= 1, "the controller is not trusted");
    expect(controller.bootstrapCount("sa_token")).to.equal(0);
    await proxy.setBundle(bundlePem);
    await until(() => controller.bootstrapCount("sa_token") >= 1, "the token is refused");
    await proxy.setToken("token:svc-system:svc-shared-proxy");
    await serves(proxy, { a: 1 });
  });

  it("a proxy does not trust a controller of another namespace", async () => {
    publish({ a: 1 });
    const proxy = await proxyOf({
      controller: {
        trustDomain: "cluster.local",
        host: "svc-controller-discovery.other.svc",
        identity: { namespace: "other", serviceAccount: "svc-controller" },
      },
    });
    await until(() => proxy.metrics.bootstraps.with({ result: "failure" }).value >= 2, "refused twice");
    expect(controller.bootstrapCount("ok") + controller.bootstrapCount("sa_token")).to.equal(0);
  });

  it("a dedicated proxy gets its own scope", async () => {
    const scope = { kind: "dedicated", gateway: { namespace: "team", name: "gw" } } as const;
    controller.gateways.push({ gateway: scope.gateway, serviceAccount: "gw-svc" });
    controller.server.cache.publish([
      [shared, snapshotOf({ secret: 1 })],
      [scope, snapshotOf({ own: 1 })],
    ]);
    const proxy = await proxyOf({ scope, token: "token:team:gw-svc", nodeId: "gw-svc-1" });
    await serves(proxy, { own: 1 });
    const isProgrammed = (): boolean =>
      controller.server.fleet.isProgrammed({
        scope,
        resources: snapshotOf({ own: 1 }).resources.values.map(({ key, hash }) => [key, hash] as const),
        ports: [8443],
      });
    await until(() => controller.server.fleet.node("gw-svc-1")?.isInSync === true, "acknowledged");
    expect(isProgrammed()).to.equal(false);
    proxy.client.setBoundPorts([8443]);
    await until(isProgrammed, "programmed");
  });

  it("a proxy that asks for another scope than its own is never served", async () => {
    publish({ secret: 1 });
    controller.gateways.push({ gateway: { namespace: "team", name: "gw" }, serviceAccount: "gw-svc" });
    const proxy = await proxyOf({ token: "token:team:gw-svc" });
    await until(() => controller.streamCount("rejected") >= 2, "rejected twice");
    expect(proxy.state.updates).to.deep.equal([]);
    expect(proxy.client.state()).to.equal("Pending");
  });

  it("a proxy detects a controller that has vanished without closing the connection", async () => {
    publish({ a: 1 });
    const relay = await startRelay({ host: "127.0.0.1", port: controller.ports.streamPort });
    try {
      const proxy = await proxyOf({
        ports: { ...controller.ports, streamPort: relay.port },
        keepalive: { intervalMs: 50, timeoutMs: 100 },
      });
      await serves(proxy, { a: 1 });
      relay.freeze();
      await until(() => proxy.client.state() === "Degraded", "Degraded");
    } finally {
      await stopProxies();
      await relay.close();
    }
  });

  it("a proxy leaves a frozen controller that keeps the connection open but does not answer", async () => {
    publish({ a: 1 });
    const relay = await startRelay({ host: "127.0.0.1", port: controller.ports.streamPort });
    try {
      const proxy = await proxyOf({
        ports: { ...controller.ports, streamPort: relay.port },
        liveness: { pingMs: 50, silenceMs: 200 },
      });
      await serves(proxy, { a: 1 });
      relay.freeze();
      await until(() => proxy.client.state() === "Degraded", "Degraded");
      expect(proxy.state.snapshot().version).to.equal(snapshotOf({ a: 1 }).version);
    } finally {
      await stopProxies();
      await relay.close();
    }
  });

  it("a proxy keeps a controller that has nothing to send, even if the proxy is busy for long", async () => {
    publish({ a: 1 });
    const answered: string[] = [];
    const proxy = await proxyOf({
      liveness: { pingMs: 5, silenceMs: 5_000 },
      log: { ...silentLogger, warn: (_: LogFields, message: string) => answered.push(message) },
    });
    await serves(proxy, { a: 1 });
    const unblock = proxy.state.block();
    publish({ a: 2 });
    await new Promise((resolve) => setImmediate(resolve));
    unblock();
    await serves(proxy, { a: 2 });
    expect(proxy.history).to.deep.equal(["Ready"]);
    expect(answered).to.deep.equal([]);
  });

  it("a proxy survives a bug in the callbacks of the client", async () => {
    publish({ a: 1 });
    const clock = createManualClock();
    let calls = 0;
    const checks = (): readonly [] => {
      calls += 1;
      if (calls === 1) throw new Error("a bug");
      return [];
    };
    const proxy = await proxyOf({ clock, checks });
    await until(() => calls === 1 && clock.pending() > 1, "the bug has shown itself");
    await until(() => {
      void clock.advance(1_000);
      return proxy.client.state() === "Ready";
    }, "Ready");
    await serves(proxy, { a: 1 });
  });

  it("a snapshot of many megabytes is delivered", async () => {
    const body = "x".repeat(1000);
    const states = Object.fromEntries([...Array(8_000)].map((_, index) => [`${body}${index}`, index]));
    publish(states);
    const proxy = await proxyOf();
    await serves(proxy, states);
    publish({ ...states, a: 1 });
    await serves(proxy, { ...states, a: 1 });
  });

  it("the log contains neither tokens nor keys nor snapshots", async () => {
    const lines: string[] = [];
    const write = (fields: LogFields, message: string): void =>
      void lines.push(JSON.stringify({ ...fields, message }));
    const log: Logger = {
      ...silentLogger,
      error: write,
      warn: write,
      info: write,
      debug: write,
      trace: write,
    };
    publish({ a: 1 });
    const proxy = await proxyOf({ log, token: "secret-token" });
    await until(() => controller.bootstrapCount("sa_token") >= 1, "refused");
    await proxy.setToken("token:svc-system:svc-shared-proxy");
    await serves(proxy, { a: 1 });
    proxy.state.refuse("not now");
    publish({ a: 2 });
    await until(() => proxy.metrics.snapshots.with({ kind: "full", result: "nack" }).value > 0, "refused");
    await stopController(controller.server);
    await until(() => proxy.client.state() === "Degraded", "Degraded");
    expect(lines.length).to.be.greaterThan(5);
    const text = lines.join("\n");
    for (const secret of ["secret-token", "svc-shared-proxy", "PRIVATE KEY", "addresses", "BEGIN"]) {
      expect(text).not.to.contain(secret);
    }
  });
});
