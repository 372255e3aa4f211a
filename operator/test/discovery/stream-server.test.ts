import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { createCertificateAuthority } from "@svc-gateway/operator/discovery/certificate-authority.ts";
import { startRelay } from "../../../common/test/relay.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import { ready, sharedToken, startController, stopController } from "./support/controller.ts";
import { gatewayScope, openRawStream, sharedScope, subscribe } from "./support/raw-client.ts";
import { ended, received, shared, streamBench } from "./support/stream-bench.ts";

describe("Stream", () => {
  const bench = streamBench();

  it("every proxy that connects or disconnects is logged, with the reason", async () => {
    const log = fakeLog();
    await bench.start({ log });
    bench.publish({ a: 1 });
    const lost = await bench.subscribed("pod-1");
    lost.cancel();
    await until(() => log.lines.some(({ message }) => message === "proxy disconnected"), "its end");
    const first = await bench.subscribed("pod-2");
    await bench.subscribed("pod-2");
    await ended(first);
    await stopController(bench.controller.server);
    const logged = log.lines.filter(({ message }) => message.startsWith("proxy "));
    expect(
      logged.map(({ level, message, fields }) => [level, message, fields["node"], fields["reason"]]),
    ).to.deep.equal([
      ["info", "proxy connected", "pod-1", undefined],
      ["info", "proxy disconnected", "pod-1", "the proxy closed the stream or its connection was lost"],
      ["info", "proxy connected", "pod-2", undefined],
      ["info", "proxy disconnected", "pod-2", "replaced by a newer stream"],
      ["info", "proxy connected", "pod-2", undefined],
      ["info", "proxy disconnected", "pod-2", "this replica is stopping"],
    ]);
  });

  it("a proxy that states no fields has a warning in the log, and all fields in the metric", async () => {
    const log = fakeLog();
    await bench.start({ log });
    bench.publish({ a: 1 });
    const stream = bench.open();
    stream.send(subscribe("pod-1", sharedScope(), 2, false, []));
    await received(stream, 1);
    const { server, metrics } = bench.controller;
    server.refreshMetrics();
    const fields = contractFields().length;
    const proxy = "svc-system/pod-1";
    expect(metrics.proxyUnknownFields.with({ proxy }).value).to.equal(fields);
    const warnings = log.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields: { node, unknown_fields } }) => [node, unknown_fields])).to.deep.equal([
      ["pod-1", fields],
    ]);
  });

  describe("leadership", () => {
    it("every message says whether the replica leads, and a change is announced by a message without a snapshot", async () => {
      await bench.start();
      bench.publish({ a: 1 });
      bench.controller.leadership.set(false);
      const stream = await bench.subscribed("pod-1");
      expect(stream.messages[0]?.leading).to.equal(false);
      bench.controller.leadership.set(true);
      await received(stream, 2);
      expect(stream.messages[1]?.leading).to.equal(true);
      expect(stream.messages[1]?.has_snapshot).to.equal(false);
      await bench.acked(stream);
      bench.controller.leadership.set(true);
      bench.publish({ a: 2 });
      await received(stream, 3);
      expect(stream.messages[2]?.leading).to.equal(true);
      expect(stream.messages[2]?.has_snapshot).to.equal(true);
      expect(stream.messages).to.have.length(3);
    });
  });

  describe("time limits", () => {
    it("a stream that does not subscribe within ten seconds is ended with INVALID_ARGUMENT", async () => {
      const clock = createManualClock();
      await bench.start({ clock });
      bench.publish({ a: 1 });
      const stream = bench.open();
      stream.sendBytes(Buffer.alloc(0)); // no field: nothing that is known
      expect(await ended(stream)).to.equal(status.INVALID_ARGUMENT);
      const silent = bench.open();
      const before = clock.pending();
      await until(() => clock.pending() > before, "the silent stream is waited for");
      await clock.advance(10_000);
      expect(await ended(silent)).to.equal(status.INVALID_ARGUMENT);
    });

    it("a stream is ended when its certificate expires", async () => {
      const clock = createManualClock();
      await bench.start({ clock, svidLifetimeMs: 600_000 });
      bench.publish({ a: 1 });
      const stream = await bench.subscribed("pod-1");
      await clock.advance(599_000);
      await bench.acked(stream);
      await clock.advance(2_000);
      expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
    });

    it("a peer that has vanished without closing the connection is detected by keepalive", async () => {
      await bench.start({ keepalive: { intervalMs: 200, timeoutMs: 1_000 } });
      bench.publish({ a: 1 });
      const relay = await startRelay({ host: "127.0.0.1", port: bench.controller.ports.streamPort });
      try {
        // Keepalive also ends the stream of a process that pauses; the proxy then connects again.
        for (let served = 0; served === 0;) {
          const stream = openRawStream(relay.port, bench.trust, bench.identity);
          stream.send(subscribe("pod-1"));
          await until(
            () => stream.messages.length > 0 || stream.status() !== undefined,
            "a snapshot or the end",
          );
          served = stream.messages.length;
        }
        relay.freeze();
        await until(() => bench.controller.server.fleet.nodes().length === 0, "the controller notices");
        expect(bench.controller.metrics.connectedProxies.with({}).value).to.equal(0);
      } finally {
        await relay.close();
      }
    });
  });

  describe("readiness and shutdown of a replica", () => {
    it("a replica that has not published yet answers UNAVAILABLE", async () => {
      await bench.start();
      const early = bench.open();
      early.send(subscribe("pod-1"));
      expect(await ended(early)).to.equal(status.UNAVAILABLE);
      bench.publish({ a: 1 });
      await bench.subscribed("pod-1");
    });

    it("a replica without a snapshot for an expected proxy answers UNAVAILABLE", async () => {
      await bench.start();
      bench.controller.gateways.push({ gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" });
      bench.publish({ a: 1 });
      const stream = bench.open(await bench.identityOf("token:team:a-svc"));
      stream.send(subscribe("pod-a", gatewayScope("team", "a")));
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
    });

    it("a replica that stops ends its streams with UNAVAILABLE", async () => {
      await bench.start();
      bench.publish({ a: 1 });
      const stream = await bench.subscribed("pod-1");
      await stopController(bench.controller.server);
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
      expect(stream.status()?.details).to.equal("this replica is stopping");
      expect(bench.controller.metrics.connectedProxies.with({}).value).to.equal(0);
    });

    it("a replica that is paused while it stops still ends its streams with UNAVAILABLE", async () => {
      await bench.start();
      bench.publish({ a: 1 });
      const stream = await bench.subscribed("pod-1");
      const stopped = stopController(bench.controller.server);
      // Longer than the time for the last messages of ended calls, and before they are sent.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500));
      await stopped;
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
      expect(stream.status()?.details).to.equal("this replica is stopping");
    });

    it("two replicas with the same world serve the same bytes", async () => {
      await bench.start();
      bench.publish({ b: 1, a: 1 });
      const stream = await bench.subscribed("pod-1");
      const other = await startController({ store: bench.controller.store, leading: false });
      await ready(other);
      other.server.cache.publish([[shared, snapshotOf({ a: 1, b: 1 })]]);
      const twin = openRawStream(other.ports.streamPort, bench.trust, bench.identity);
      twin.send(subscribe("pod-1"));
      await received(twin, 1);
      expect(twin.messages[0]?.snapshot.version).to.equal(stream.messages[0]?.snapshot.version);
      expect(twin.messages[0]?.leading).to.equal(false);
    });

    it("a new authority is used while streams stay open, and the old one is still trusted", async () => {
      await bench.start();
      bench.publish({ a: 1 });
      const stream = await bench.subscribed("pod-1");
      const fresh = await createCertificateAuthority("cluster.local", Date.now());
      bench.controller.store.replace({ ...fresh, retiredPem: "" });
      await until(
        () => bench.controller.server.trustBundlePem()?.startsWith(fresh.certificatePem) === true,
        "adopted",
      );
      const signedByNew = await bench.identityOf(sharedToken);
      await bench.acked(stream);
      bench.publish({ a: 2 });
      await received(stream, 2);
      await bench.subscribed("pod-2", bench.identity);
      await bench.subscribed("pod-3", signedByNew);
      expect(stream.status()).to.equal(undefined);
    });
  });
});
