import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  type CertificateAuthority,
  loadCertificateAuthority,
} from "@svc-gateway/operator/discovery/certificate-authority.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  sharedToken,
  startController,
  stopControllers,
  type TestController,
} from "./support/controller.ts";
import {
  bootstrap,
  gatewayScope,
  openRawStream,
  sharedScope,
  subscribe,
  type TestIdentity,
} from "./support/raw-client.ts";
import { createTestKey } from "./support/signing-request.ts";
import { ended, gateway, received, shared, streamBench } from "./support/stream-bench.ts";

describe("Stream: peers", () => {
  const bench = streamBench();
  beforeEach(async () => {
    await bench.start();
    bench.controller.gateways.push(
      { gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" },
      { gateway: { namespace: "team", name: "b" }, serviceAccount: "b-svc" },
    );
    bench.controller.server.cache.publish([
      [shared, snapshotOf({ x: 1 })],
      [gateway("a"), snapshotOf({ a: 1 })],
      [gateway("b"), snapshotOf({ b: 1 })],
    ]);
  });

  const authorityOf = async ({ store }: TestController): Promise<CertificateAuthority> => {
    const content = store.content();
    if (content === undefined) throw new Error("no authority");
    const authority = await loadCertificateAuthority("cluster.local", content);
    if (!authority.ok) throw new Error(authority.error.message);
    return authority.value;
  };

  const refusedConnection = async (shown: TestIdentity | undefined): Promise<void> => {
    const stream = openRawStream(bench.controller.ports.streamPort, bench.trust, shown);
    stream.send(subscribe("pod-1"));
    expect(await ended(stream)).to.equal(status.UNAVAILABLE);
    expect(stream.messages).to.deep.equal([]);
    await until(() => bench.controller.streamCount("rejected") > 0, "the rejection is counted");
    expect(bench.controller.streamCount("accepted")).to.equal(0);
  };

  it("a peer without a certificate is rejected", () => refusedConnection(undefined));

  it("a peer with a certificate of an untrusted authority is rejected", async () => {
    const other = await startController();
    const otherTrust = await ready(other);
    const forged = await bootstrap(other.ports.bootstrapPort, otherTrust, { token: sharedToken });
    await refusedConnection(forged.identity);
  });

  it("a peer with a server certificate, such as the controller's own, is rejected", async () => {
    const authority = await authorityOf(bench.controller);
    const key = createTestKey();
    const { chainPem } = await authority.issueServerCertificate({
      publicKey: key.publicKey,
      identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
      dnsNames: [],
      nowMs: Date.now(),
      lifetimeMs: 3_600_000,
    });
    await refusedConnection({ chainPem, privateKeyPem: key.privateKeyPem });
  });

  it("a peer with an expired certificate is rejected", async () => {
    const authority = await authorityOf(bench.controller);
    const key = createTestKey();
    const { chainPem } = await authority.issueSvid({
      publicKey: key.publicKey,
      identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
      nowMs: Date.now() - 3_600_000,
      lifetimeMs: 1_800_000,
    });
    await refusedConnection({ chainPem, privateKeyPem: key.privateKeyPem });
  });

  const wrongScopes = [
    { who: "the shared pool asks for a Gateway", token: sharedToken, scope: gatewayScope("team", "a") },
    { who: "a Gateway asks for the shared pool", token: "token:team:a-svc", scope: sharedScope() },
    { who: "a Gateway asks for another one", token: "token:team:a-svc", scope: gatewayScope("team", "b") },
    {
      who: "a Gateway asks for one that does not exist",
      token: "token:team:a-svc",
      scope: gatewayScope("team", "c"),
    },
  ];
  for (const { who, token, scope } of wrongScopes) {
    it(`a stream for another scope is rejected with PERMISSION_DENIED when ${who}`, async () => {
      const stream = bench.open(await bench.identityOf(token));
      stream.send(subscribe("pod-1", scope));
      expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
      expect(stream.messages).to.deep.equal([]);
      expect(bench.controller.streamCount("rejected")).to.equal(1);
      expect(bench.controller.server.fleet.nodes()).to.deep.equal([]);
    });
  }

  it("a proxy may only use the name of the pod that its certificate was issued for", async () => {
    const shown = await bench.identityOf("token:team:a-svc:gateway-pod");
    const liar = bench.open(shown);
    liar.send(subscribe("shared-proxy-1", gatewayScope("team", "a")));
    expect(await ended(liar)).to.equal(status.PERMISSION_DENIED);
    expect(bench.controller.streamCount("rejected")).to.equal(1);
    await bench.subscribed("gateway-pod", shown, gatewayScope("team", "a"));
  });

  it("a pod name of 253 characters, the longest, is checked in full", async () => {
    const name = `${"a".repeat(60)}.`.repeat(4) + "b".repeat(9);
    expect(name).to.have.length(253);
    const shown = await bench.identityOf(`token:svc-system:svc-shared-proxy:${name}`);
    await bench.subscribed(name, shown);
    const liar = bench.open(shown);
    liar.send(subscribe("another"));
    expect(await ended(liar)).to.equal(status.PERMISSION_DENIED);
  });

  it("a proxy of another identity with the same name takes nothing from a proxy, in either order", async () => {
    const scope = gatewayScope("team", "a");
    const shown = await bench.identityOf("token:team:a-svc");
    const squatter = await bench.subscribed("pod-1", shown, scope);
    const own = await bench.subscribed("pod-1");
    await bench.acked(own);
    await bench.acked(squatter);
    const again = await bench.subscribed("pod-1", shown, scope);
    await bench.acked(again);
    bench.controller.server.cache.publish([
      [shared, snapshotOf({ x: 2 })],
      [gateway("a"), snapshotOf({ a: 1 })],
    ]);
    await received(own, 2);
    expect(own.status()).to.equal(undefined);
    expect(bench.controller.metrics.connectedProxies.with({}).value).to.equal(2);
  });

  it("a newer stream of a proxy replaces its older one, which ends without an error", async () => {
    const old = await bench.subscribed("pod-1");
    const fresh = await bench.subscribed("pod-1");
    expect(await ended(old)).to.equal(status.OK);
    await bench.acked(fresh);
    await until(() => bench.controller.metrics.connectedProxies.with({}).value === 1, "one stream is left");
    expect(bench.controller.server.fleet.node("pod-1")?.isInSync).to.equal(true);
  });

  it("the metrics show how far each connected proxy is behind, and when the authority expires", async () => {
    const { server, metrics } = bench.controller;
    const proxies = (): readonly string[] => {
      server.refreshMetrics();
      return metrics.proxyBehind.collect().keys.map((key) => key.replaceAll("\u0000", ""));
    };
    const call = await bench.subscribed("pod-1");
    await bench.acked(call);
    expect(proxies()).to.deep.equal(["svc-system/pod-1"]);
    expect(metrics.proxyBehind.with({ proxy: "svc-system/pod-1" }).value).to.equal(0);
    expect(metrics.authorityExpiry.with({}).value).to.be.above(0);
    expect(metrics.proxyUnknownFields.with({ proxy: "svc-system/pod-1" }).value).to.equal(0);
    call.cancel();
    await until(() => proxies().length === 0, "the proxy has left");
  });

  it("the number of streams is limited", async () => {
    await stopControllers();
    await bench.start({
      streamLimits: {
        maxConnections: 10,
        maxConnectionsPerAddress: 2,
        handshakeTimeoutMs: 10_000,
        maxStreams: 1,
      },
    });
    bench.publish({ x: 1 });
    const first = await bench.subscribed("pod-1");
    const second = bench.open();
    second.send(subscribe("pod-2"));
    expect(await ended(second)).to.equal(status.INTERNAL);
    // The connection of the second is silent now, and makes room; that of the first is not.
    const third = bench.open();
    third.send(subscribe("pod-3"));
    expect(await ended(third)).to.equal(status.INTERNAL);
    await bench.acked(first);
  });
});
