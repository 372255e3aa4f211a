import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { startRelay } from "../../../common/test/relay.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  startController,
  stopControllers,
  type TestController,
} from "../../../operator/test/discovery/support/controller.ts";
import { startProxy, stopProxies } from "./rig.ts";

const shared = { kind: "shared" } as const;
const mebibyte = 1024 * 1024;

const resourceOf = (name: string, body: string): Resource => ({
  key: `other|${name}` as ResourceKey,
  hash: sha256Hex(body),
  body,
});

/** A snapshot of slightly more than `count` MiB, with a resource that is longer than a part. */
const largeSnapshot = (count: number, mark: string): Snapshot =>
  createSnapshot([
    resourceOf("long", `${mark}${"€".repeat(3 * mebibyte)}`),
    ...Array.from({ length: count }, (_, index) =>
      resourceOf(String(index), `${mark}${index}${"x".repeat(mebibyte)}`),
    ),
  ]);

describe("snapshots in parts", () => {
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

  it("a snapshot larger than a message reaches a proxy in parts, full and as a delta", async () => {
    const first = largeSnapshot(70, "a");
    controller.server.cache.publish([[shared, first]]);
    const proxy = await startProxy({ ports: controller.ports, bundlePem });
    await until(() => proxy.state.snapshot().version === first.version, "the first snapshot");
    const second = largeSnapshot(70, "b");
    controller.server.cache.publish([[shared, second]]);
    await until(() => proxy.state.snapshot().version === second.version, "the second snapshot");
    expect(proxy.state.updates.map(({ full }) => full)).to.deep.equal([true, false]);
    await until(() => controller.server.fleet.node("proxy-1")?.isInSync === true, "acknowledged");
    expect(proxy.metrics.reconnects.with({}).value).to.equal(0);
  });

  it("a snapshot whose parts are cut off leaves the proxy unchanged and is sent in full over the next stream", async () => {
    const small = snapshotOf({ a: 1 });
    controller.server.cache.publish([[shared, small]]);
    const relay = await startRelay({ host: "127.0.0.1", port: controller.ports.streamPort });
    const ports = { ...controller.ports, streamPort: relay.port };
    const proxy = await startProxy({ ports, bundlePem });
    await until(() => proxy.state.snapshot().version === small.version, "the small snapshot");
    const large = largeSnapshot(20, "a");
    relay.cutAfter(9 * mebibyte);
    controller.server.cache.publish([[shared, large]]);
    await until(() => proxy.history.includes("Degraded"), "the loss of the stream");
    expect(proxy.state.updates).to.have.length(1);
    await until(() => proxy.state.snapshot().version === large.version, "the large snapshot");
    expect(proxy.state.updates.map(({ full }) => full)).to.deep.equal([true, true]);
    await relay.close();
  });
});
