import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { BootstrapFailure } from "@svc-gateway/proxy/source/bootstrap.ts";
import { createIdentityKeeper, type IdentityKeeper } from "@svc-gateway/proxy/source/identity-keeper.ts";
import type { DiscoveryClientMetrics } from "@svc-gateway/proxy/source/discovery-client-metrics.ts";
import type { ProxyIdentity } from "@svc-gateway/proxy/source/proxy-identity.ts";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("the keeper of the proxy's certificate", () => {
  let clock: ManualClock;
  let metrics: DiscoveryClientMetrics;
  let keeper: IdentityKeeper;
  let answer: () => Result<ProxyIdentity, BootstrapFailure>;
  let requests: number;
  let rejections: string[];

  const issue = (): Result<ProxyIdentity, BootstrapFailure> =>
    ok({ privateKeyPem: "key", chainPem: `chain ${requests}`, notAfterMs: clock.nowMs() + dayMs });
  const down = (): Result<ProxyIdentity, BootstrapFailure> => fail({ message: "down", isPermanent: false });

  beforeEach(() => {
    clock = createManualClock();
    metrics = createMetricSet(discoveryClientMetrics);
    answer = issue;
    requests = 0;
    rejections = [];
    keeper = createIdentityKeeper({
      request: () => {
        requests += 1;
        return Promise.resolve(answer());
      },
      onRejected: (message) => rejections.push(message),
      scheduleRetry: clock.schedule,
      metrics,
      log: silentLogger,
      clock,
      random: () => 1,
    });
  });
  afterEach(() => keeper.stop());
  const start = async (): Promise<void> => {
    keeper.start();
    await clock.advance(0);
  };

  it("the identity keeper requests a certificate at once, and the next at half of its lifetime", async () => {
    await start();
    expect(keeper.current()?.chainPem).to.equal("chain 1");
    await clock.advance(12 * hourMs - 1);
    expect(requests).to.equal(1);
    await clock.advance(1);
    expect(keeper.current()?.chainPem).to.equal("chain 2");
    expect(metrics.bootstraps.with({ result: "success" }).value).to.equal(2);
  });

  it("svc_discovery_client_svid_expiry_seconds shows the remaining lifetime of the certificate", async () => {
    await start();
    await clock.advance(hourMs);
    expect(metrics.svidExpiry.with({}).value).to.be.closeTo(23 * 3600, 10);
  });

  it("the identity keeper retries like a reconnect while there is no certificate", async () => {
    answer = down;
    await start();
    for (const waitMs of [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      const before = requests;
      await clock.advance(waitMs - 1);
      expect(requests).to.equal(before);
      await clock.advance(1);
      expect(requests).to.equal(before + 1);
    }
    expect(keeper.current()).to.equal(undefined);
    expect(metrics.bootstraps.with({ result: "failure" }).value).to.equal(10);
  });

  it("the identity keeper retries after 5 s to 5 min while the old certificate is valid, and after it expires", async () => {
    await start();
    answer = down;
    await clock.advance(12 * hourMs);
    for (const waitMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      const before = requests;
      await clock.advance(waitMs - 1);
      expect(requests).to.equal(before);
      await clock.advance(1);
      expect(requests).to.equal(before + 1);
    }
    expect(keeper.current()?.chainPem).to.equal("chain 1");
    await clock.advance(12 * hourMs);
    expect(keeper.current()).to.equal(undefined);
    expect(metrics.svidExpiry.with({}).value).to.equal(0);
    answer = issue;
    await clock.advance(5 * 60_000);
    expect(keeper.current()).not.to.equal(undefined);
  });

  it("the identity keeper stops when controllers speak another wire version", async () => {
    answer = () => fail({ message: "wire version", isPermanent: true });
    await start();
    await clock.advance(30 * dayMs);
    expect(requests).to.equal(1);
    expect(rejections).to.deep.equal(["wire version"]);
  });

  it("a doubted certificate is not renewed after controllers that speak another wire version have rejected its renewal", async () => {
    await start();
    answer = () => fail({ message: "wire version", isPermanent: true });
    await clock.advance(12 * hourMs);
    await clock.advance(hourMs);
    keeper.renewSoon();
    await clock.advance(hourMs);
    expect(requests).to.equal(2);
    expect(rejections).to.deep.equal(["wire version"]);
  });

  it("a doubted certificate is renewed early, but at most once a minute", async () => {
    await start();
    keeper.renewSoon();
    await clock.advance(59_999);
    expect(requests).to.equal(1);
    await clock.advance(1);
    keeper.renewSoon();
    keeper.renewSoon();
    await clock.advance(1);
    expect(requests).to.equal(2);
    await clock.advance(12 * hourMs - 2);
    expect(requests).to.equal(2);
    await clock.advance(1);
    expect(requests).to.equal(3);
  });

  for (const stepMs of [dayMs, -dayMs, hourMs, -hourMs]) {
    it(`a certificate is renewed before it expires after the clock was set by ${stepMs / hourMs} hours`, async () => {
      await start();
      clock.step(stepMs);
      const endMs = clock.nowMs() - stepMs + dayMs;
      await clock.advance(60_000);
      expect(requests).to.equal(stepMs >= dayMs / 2 ? 2 : 1);
      while (clock.nowMs() < endMs - hourMs) await clock.advance(hourMs);
      expect(requests).to.equal(2);
      expect(keeper.current()?.chainPem).to.equal("chain 2");
    });
  }

  it("a doubted certificate is renewed after the clock was set back by a day", async () => {
    await start();
    clock.step(-dayMs);
    keeper.renewSoon();
    await clock.advance(0);
    expect(requests).to.equal(2);
  });

  it("a certificate that has expired by the clock of this machine is not used, and requested again less and less often", async () => {
    answer = () => ok({ privateKeyPem: "key", chainPem: "chain", notAfterMs: clock.nowMs() - hourMs });
    await start();
    expect(keeper.current()).to.equal(undefined);
    await clock.advance(hourMs);
    expect(requests).to.be.within(100, 140);
    answer = issue;
    await clock.advance(60_000);
    expect(keeper.current()).not.to.equal(undefined);
  });

  it("the identity keeper notifies listeners of each new certificate until it is stopped", async () => {
    const received: string[] = [];
    keeper.subscribe(({ chainPem }) => received.push(chainPem));
    await start();
    await clock.advance(12 * hourMs);
    expect(received).to.deep.equal(["chain 1", "chain 2"]);
    keeper.stop();
    await clock.advance(dayMs);
    expect(requests).to.equal(2);
    expect(clock.pending()).to.equal(0);
  });
});
