import { X509Certificate } from "node:crypto";
import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { createCaKeeper, type CaKeeper } from "@svc-gateway/operator/discovery/ca-keeper.ts";
import { createCertificateAuthority } from "@svc-gateway/operator/discovery/certificate-authority.ts";
import {
  createServerIdentity,
  serviceDnsNames,
  type ServerIdentity,
  type TlsMaterial,
} from "@svc-gateway/operator/discovery/server-identity.ts";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import { createMemoryCaStore, type MemoryCaStore } from "./support/memory-ca-store.ts";

const hourMs = 60 * 60_000;

describe("the controller's certificate", () => {
  let clock: ManualClock;
  let store: MemoryCaStore;
  let keeper: CaKeeper;
  let identity: ServerIdentity;
  let published: TlsMaterial[];

  beforeEach(() => {
    clock = createManualClock();
    store = createMemoryCaStore();
    keeper = createCaKeeper({
      store,
      mode: "auto",
      trustDomain: "example.org",
      svidLifetimeMs: 24 * hourMs,
      isLeading: () => true,
      log: silentLogger,
      clock,
    });
    identity = createServerIdentity({
      keeper,
      identity: { namespace: "svc-system", serviceAccount: "svc-controller" },
      dnsNames: serviceDnsNames("svc-controller-discovery", "svc-system"),
      lifetimeMs: 24 * hourMs,
      log: silentLogger,
      clock,
    });
    published = [];
    identity.subscribe((material) => published.push(material));
  });
  afterEach(() => {
    identity.stop();
    keeper.stop();
  });

  const certificate = (): X509Certificate => new X509Certificate(published.at(-1)?.chainPem ?? "");

  it("the controller certificate is issued as soon as there is an authority, with the names of the Service", async () => {
    expect(identity.current()).to.equal(undefined);
    await keeper.reconcile();
    await until(() => identity.current() !== undefined, "issued");
    expect(certificate().subjectAltName).to.equal(
      "URI:spiffe://example.org/ns/svc-system/sa/svc-controller, DNS:svc-controller-discovery, " +
        "DNS:svc-controller-discovery.svc-system, DNS:svc-controller-discovery.svc-system.svc, " +
        "DNS:svc-controller-discovery.svc-system.svc.cluster.local",
    );
    expect(identity.current()?.trustPem).to.equal(keeper.current()?.bundlePem);
  });

  it("the controller certificate is renewed at half its lifetime, with a new key", async () => {
    await keeper.reconcile();
    await until(() => published.length === 1, "issued");
    const first = published[0];
    await clock.advance(12 * hourMs - 60_000);
    expect(published).to.have.length(1);
    await clock.advance(120_000);
    await until(() => published.length === 2, "renewed");
    expect(published[1]?.privateKeyPem).not.to.equal(first?.privateKeyPem);
    expect(certificate().validToDate.getTime()).to.be.closeTo(clock.nowMs() + 24 * hourMs, 180_000);
  });

  it("a new authority is trusted at once and signs the controller certificate five minutes later", async () => {
    await keeper.reconcile();
    await until(() => published.length === 1, "issued");
    const old = published[0];
    store.replace({ ...(await createCertificateAuthority("example.org", clock.nowMs())), retiredPem: "" });
    await keeper.reconcile();
    await until(() => published.length === 2, "the new root is trusted");
    expect(published[1]?.chainPem).to.equal(old?.chainPem);
    expect(published[1]?.trustPem).to.equal(keeper.current()?.bundlePem);
    await clock.advance(4 * 60_000);
    expect(published).to.have.length(2);
    await clock.advance(60_000);
    await until(() => published.length === 3, "signed by the new authority");
    const root = new X509Certificate(keeper.current()?.authority.rootPem ?? "");
    expect(certificate().verify(root.publicKey)).to.equal(true);
    expect(published[2]?.trustPem).to.contain(published[0]?.trustPem);
  });
});
