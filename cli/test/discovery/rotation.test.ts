import { expect } from "chai";
import { fail } from "@svc-gateway/common/values/result.ts";
import { createCertificateAuthority } from "@svc-gateway/operator/discovery/certificate-authority.ts";
import type { ReviewToken } from "@svc-gateway/operator/discovery/bootstrap.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  reviewTestToken,
  startController,
  stopController,
  stopControllers,
  type TestController,
} from "../../../operator/test/discovery/support/controller.ts";
import { startProxy, stopProxies, type TestProxy } from "./rig.ts";

const shared = { kind: "shared" } as const;
const minuteMs = 60_000;
/** Certificates are back-dated by five minutes, so that a clock of the test may run ahead of the real one by as much. */
const shortLifetimeMs = 2 * minuteMs;
const longLifetimeMs = 8 * minuteMs;

describe("rotation", () => {
  let clock: ManualClock;
  let controller: TestController;
  let bundlePem: string;
  let review: ReviewToken;
  let proxy: TestProxy;

  const start = async (svidLifetimeMs: number): Promise<void> => {
    clock = createManualClock();
    review = reviewTestToken;
    controller = await startController({
      clock,
      svidLifetimeMs,
      reviewToken: (token, audience, signal) => review(token, audience, signal),
    });
    bundlePem = await ready(controller);
    publish(1);
    proxy = await startProxy({ ports: controller.ports, bundlePem, clock, random: () => 0 });
    await serves(1);
  };
  afterEach(async () => {
    await stopProxies();
    await stopControllers();
  });

  const publish = (state: number): void =>
    controller.server.cache.publish([[shared, snapshotOf({ a: state })]]);
  const serves = (state: number): Promise<void> =>
    until(() => proxy.state.snapshot().version === snapshotOf({ a: state }).version, `state ${state}`);
  const bootstraps = (result: "success" | "failure"): number =>
    proxy.metrics.bootstraps.with({ result }).value;
  const streams = (): number => controller.streamCount("accepted");

  describe("rotation of a proxy's certificate", () => {
    beforeEach(() => start(shortLifetimeMs));

    it("the proxy certificate is renewed at half its lifetime, and the stream moves without a gap", async () => {
      await clock.advance(minuteMs - 2_000);
      expect(bootstraps("success")).to.equal(1);
      await clock.advance(2_000);
      await until(() => bootstraps("success") === 2, "renewed");
      await until(() => streams() === 2, "moved");
      publish(2);
      await serves(2);
      expect(proxy.history).to.deep.equal(["Ready"]);
      expect(proxy.metrics.reconnects.with({}).value).to.equal(0);
      expect(controller.metrics.connectedProxies.with({}).value).to.equal(1);
      // Beyond the end of the first certificate: the stream is on the second.
      await clock.advance(minuteMs - 1_000);
      await until(() => bootstraps("success") === 2, "still the second");
      await clock.advance(2_000);
      publish(3);
      await serves(3);
      expect(proxy.history).to.deep.equal(["Ready"]);
    });

    it("the stream stays while a renewal fails, and the renewal is retried after five seconds", async () => {
      review = () => Promise.resolve(fail({ reason: "token_review_error", message: "down" }));
      await clock.advance(minuteMs);
      await until(() => bootstraps("failure") === 1, "the first failure");
      await clock.advance(4_999);
      expect(bootstraps("failure")).to.equal(1);
      await clock.advance(1);
      await until(() => bootstraps("failure") === 2, "the second failure");
      publish(2);
      await serves(2);
      expect(streams()).to.equal(1);
      review = reviewTestToken;
      await clock.advance(5_000);
      await until(() => bootstraps("success") === 2, "renewed");
      await until(() => streams() === 2, "moved");
      expect(proxy.history).to.deep.equal(["Ready"]);
    });

    it("a proxy with an expired certificate keeps serving and recovers with a new one", async () => {
      review = () => Promise.resolve(fail({ reason: "token_review_error", message: "down" }));
      await clock.advance(minuteMs);
      await until(() => bootstraps("failure") === 1, "the first failure");
      await clock.advance(minuteMs);
      await until(() => proxy.client.state() === "Degraded", "the controller has ended the stream");
      expect(proxy.metrics.svidExpiry.with({}).value).to.equal(0);
      expect(proxy.state.snapshot().version).to.equal(snapshotOf({ a: 1 }).version);
      review = reviewTestToken;
      // In steps so small that the wait ends before the clock of the test is too far ahead.
      await until(() => (void clock.advance(10), proxy.client.state() === "Ready"), "Ready again");
    });
  });

  describe("rotation of the certificate authority", () => {
    let fresh: { readonly certificatePem: string; readonly privateKeyPem: string };

    beforeEach(async () => {
      await start(longLifetimeMs);
      fresh = await createCertificateAuthority("cluster.local", Date.now());
      controller.store.replace({ ...fresh, retiredPem: "" });
      await until(
        () => controller.server.trustBundlePem()?.startsWith(fresh.certificatePem) === true,
        "adopted",
      );
    });

    it("a new certificate authority drops no stream, and proxies get certificates of it on renewal", async () => {
      publish(2);
      await serves(2);
      await clock.advance(longLifetimeMs / 2);
      await until(() => bootstraps("success") === 2 && streams() === 2, "renewed and moved");
      publish(3);
      await serves(3);
      expect(proxy.history).to.deep.equal(["Ready"]);
    });

    it("a proxy whose mounted bundle lags trusts the new authority with its next certificate", async () => {
      await clock.advance(longLifetimeMs / 2);
      await until(() => bootstraps("success") === 2 && streams() === 2, "renewed and moved");
      // A controller that starts now knows the old root only as a retired one, and shows a certificate of the new one.
      const { ports, store } = controller;
      await until(() => store.content()?.retiredPem !== "", "the old root is remembered");
      await stopController(controller.server);
      await until(() => proxy.client.state() === "Degraded", "the stream is lost");
      controller = await startController({ ...ports, store, clock, svidLifetimeMs: longLifetimeMs });
      await ready(controller);
      publish(4);
      // In steps so small that the wait ends before the clock of the test is too far ahead.
      await until(() => (void clock.advance(5), proxy.client.state() === "Ready"), "Ready again");
      await serves(4);
    });

    it("a proxy without a certificate trusts the new authority through its mounted bundle", async () => {
      await clock.advance(0);
      const published = controller.store.published() ?? "";
      expect(published).to.contain(bundlePem);
      const late = await startProxy({
        ports: controller.ports,
        bundlePem: published,
        clock,
        nodeId: "proxy-2",
      });
      await until(() => late.client.state() === "Ready", "Ready");
    });
  });
});
