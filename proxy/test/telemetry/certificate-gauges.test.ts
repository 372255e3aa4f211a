import { expect } from "chai";
import { reportCertificates } from "../../src/telemetry/certificate-gauges.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";

const hourMs = 3_600_000;

describe("reportCertificates", () => {
  const metrics = createProxyMetrics();
  /** Values by the value of their one label. */
  const gauges = async (metric: string): Promise<ReadonlyMap<string, number>> => {
    const { body } = await metrics.expose();
    const samples = body.matchAll(new RegExp(`^${metric}\\{[a-z]+="([^"]*)"\\} (.*)$`, "gm"));
    return new Map([...samples].map(([, label = "", value]) => [label, Number(value)]));
  };

  it("the expiry gauge has the seconds left for each name, negative for expired certificates", async () => {
    const now = Date.now();
    reportCertificates(metrics, [
      { bucket: "exact", name: "a.example", notAfterMs: now + hourMs },
      { bucket: "wildcard", name: "*.example", notAfterMs: now - hourMs },
      { bucket: "default", name: "*", notAfterMs: now + 2 * hourMs },
    ]);
    const seconds = await gauges("svc_proxy_tls_cert_expiry_seconds");
    expect([...seconds.keys()]).to.have.members(["a.example", "*.example", "*"]);
    // Rounded, and the test has taken some time.
    expect(seconds.get("a.example")).to.be.within(3000, 3600);
    expect(seconds.get("*.example")).to.be.within(-4200, -3600);
    expect([...(await gauges("svc_proxy_tls_certs_loaded"))]).to.deep.equal([
      ["exact", 1],
      ["wildcard", 1],
      ["default", 1],
    ]);
  });

  it("the certificate gauges drop removed names", async () => {
    reportCertificates(metrics, [{ bucket: "exact", name: "b.example", notAfterMs: Date.now() + hourMs }]);
    expect([...(await gauges("svc_proxy_tls_cert_expiry_seconds")).keys()]).to.deep.equal(["b.example"]);
    expect((await gauges("svc_proxy_tls_certs_loaded")).get("wildcard")).to.equal(0);
  });
});
