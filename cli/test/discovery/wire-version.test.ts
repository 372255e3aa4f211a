import { status, type sendUnaryData, type ServerDuplexStream, type ServerUnaryCall } from "@grpc/grpc-js";
import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { createCaKeeper } from "@svc-gateway/operator/discovery/ca-keeper.ts";
import { createGrpcServer, type GrpcServer } from "@svc-gateway/operator/discovery/grpc-server.ts";
import { createServerIdentity } from "@svc-gateway/operator/discovery/server-identity.ts";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { defaultKeepalive } from "@svc-gateway/proto/wire.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  startController,
  stopController,
  stopControllers,
  type TestController,
} from "../../../operator/test/discovery/support/controller.ts";
import { startProxy, stopProxies } from "./rig.ts";

const shared = { kind: "shared" } as const;
const rejection = { code: status.FAILED_PRECONDITION, details: "wire version 2 is not supported, only 3" };

describe("a controller of another wire version", () => {
  let controller: TestController;
  let bundlePem: string;
  const cleanups: (() => void | Promise<void>)[] = [];

  beforeEach(async () => {
    controller = await startController();
    bundlePem = await ready(controller);
    controller.server.cache.publish([[shared, snapshotOf({ a: 1 })]]);
  });
  afterEach(async () => {
    await stopProxies();
    for (const cleanup of cleanups.splice(0)) await cleanup();
    await stopControllers();
  });

  /** A controller that rejects everything, with certificates of the same authority. */
  const startRejecting = async (
    port: number,
    host: string = "127.0.0.1",
  ): Promise<{ readonly port: number; calls(): number }> => {
    let calls = 0;
    const keeper = createCaKeeper({
      store: controller.store,
      mode: "external",
      trustDomain: "cluster.local",
      svidLifetimeMs: 3_600_000,
      isLeading: () => false,
      log: silentLogger,
    });
    const identity = createServerIdentity({
      keeper,
      identity: { namespace: "svc-system", serviceAccount: "svc-controller" },
      dnsNames: [],
      lifetimeMs: 3_600_000,
      log: silentLogger,
    });
    await keeper.reconcile();
    await until(() => identity.current() !== undefined, "a certificate");
    const server: GrpcServer = createGrpcServer({
      host,
      port,
      identity,
      service: rawDiscoveryService,
      implementation: {
        Stream(call: ServerDuplexStream<Buffer, Buffer>) {
          calls += 1;
          call.emit("error", rejection);
        },
        Bootstrap(_: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
          calls += 1;
          callback(rejection);
        },
      },
      keepalive: defaultKeepalive,
      limits: { maxConnections: 100, maxConnectionsPerAddress: 100, handshakeTimeoutMs: 10_000 },
      requireClientCertificate: false,
      onUntrusted: () => {},
    });
    const bound = await server.listen();
    if (!bound.ok) throw new Error(bound.error.message);
    cleanups.push(
      () => server.close(),
      () => identity.stop(),
      () => keeper.stop(),
    );
    return { port: bound.value, calls: () => calls };
  };

  it("a controller of another wire version is asked for an identity once, and the proxy stays Pending", async () => {
    const rejecting = await startRejecting(0);
    const clock = createManualClock();
    const ports = { ...controller.ports, bootstrapPort: rejecting.port };
    const proxy = await startProxy({ ports, bundlePem, clock });
    await until(() => proxy.metrics.bootstraps.with({ result: "failure" }).value === 1, "rejected");
    await clock.advance(24 * 3_600_000);
    expect(rejecting.calls()).to.equal(1);
    expect(proxy.client.state()).to.equal("Pending");
  });

  it("a controller of another wire version is asked for a stream once, and the proxy stays Pending", async () => {
    const rejecting = await startRejecting(0);
    const clock = createManualClock();
    const ports = { ...controller.ports, streamPort: rejecting.port };
    const log = fakeLog();
    const proxy = await startProxy({ ports, bundlePem, clock, log });
    await until(() => log.lines.some(({ level }) => level === "error"), "rejected");
    await clock.advance(24 * 3_600_000);
    expect(rejecting.calls()).to.equal(1);
    expect(proxy.client.state()).to.equal("Pending");
    expect(proxy.metrics.bootstraps.with({ result: "success" }).value).to.equal(1);
  });

  it("a proxy with a snapshot is Degraded and keeps serving when the controller has another wire version", async () => {
    const clock = createManualClock();
    const log = fakeLog();
    const proxy = await startProxy({ ports: controller.ports, bundlePem, clock, log });
    await until(() => proxy.client.state() === "Ready", "Ready");
    await stopController(controller.server);
    await until(() => proxy.client.state() === "Degraded", "Degraded");
    const rejecting = await startRejecting(controller.ports.streamPort);
    await until(() => {
      void clock.advance(1_000);
      return log.lines.some(({ level }) => level === "error");
    }, "rejected");
    await clock.advance(24 * 3_600_000);
    expect(rejecting.calls()).to.equal(1);
    expect(proxy.client.state()).to.equal("Degraded");
    expect(proxy.state.snapshot().version).to.equal(snapshotOf({ a: 1 }).version);
  });

  it("a controller of another wire version is skipped while another replica is compatible", async () => {
    const rejecting = await startRejecting(controller.ports.streamPort, "127.0.0.2");
    const proxy = await startProxy({
      ports: controller.ports,
      bundlePem,
      addresses: ["127.0.0.1", "127.0.0.2"],
      random: () => 0, // shuffles two addresses into the other order
    });
    await until(() => proxy.client.state() === "Ready", "Ready");
    expect(rejecting.calls()).to.equal(1);
  });
});
