import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { createSizeReport } from "../../src/build/size-report.ts";
import { translate } from "../../src/translate/translate.ts";
import { readCase } from "../translate/golden.ts";

function setUp(maxScopeBytes: number) {
  const metrics = createMetricSet(controllerMetrics);
  const health: boolean[] = [];
  const report = createSizeReport({
    metrics,
    watchHealth: { onLimit: (_, isNear) => health.push(isNear) },
    maxScopeBytes,
  });
  const series = (): Record<string, number> => {
    const { keys, values } = metrics.snapshotBytes.collect();
    return Object.fromEntries(
      keys.map((key, index) => [key.split("\u0000").slice(0, 2).join(" "), values[index] ?? Number.NaN]),
    );
  };
  return { report, health, series };
}

/** No Gateway has certificates. */
const certificateBytes = new Map<string, number>();

const nothing = { shared: [], dedicated: [] };

describe("the report of sizes", () => {
  it("the size metric has series for the ten largest namespaces of a scope and drops those that shrink", () => {
    const { report, series } = setUp(1e6);
    const namespaces = Array.from({ length: 12 }, (_, index) => ({
      namespace: `n${index}`,
      bytes: 100 - index,
    }));
    report({ sizes: new Map([["shared", namespaces]]), certificateBytes, scopes: nothing });
    expect(Object.keys(series())).to.have.length(11);
    expect(series()).to.include({ "shared n0": 100, "shared n9": 91, "shared ": 0 });
    report({ sizes: new Map([["shared", namespaces.slice(0, 1)]]), certificateBytes, scopes: nothing });
    expect(series()).to.deep.equal({ "shared n0": 100, "shared ": 0 });
  });

  it("resources other than routes are counted, and a scope at 80 percent of its limit is reported to health", () => {
    const { report, series, health } = setUp(1000);
    const resource = (key: string, bytes: number) => ({
      key: key as ResourceKey,
      hash: "",
      body: "x".repeat(bytes),
    });
    const scopes = { shared: [resource("tls|443", 300), resource("route|x", 5000)], dedicated: [] };
    report({ sizes: new Map([["shared", [{ namespace: "a", bytes: 499 }]]]), certificateBytes, scopes });
    report({ sizes: new Map([["shared", [{ namespace: "a", bytes: 500 }]]]), certificateBytes, scopes });
    expect(series()).to.deep.equal({ "shared a": 500, "shared ": 300 });
    expect(health).to.deep.equal([false, true]);
  });

  it("endpoints and key sets of a translation are counted under the empty name", () => {
    const { report, series } = setUp(1e6);
    const { world, settings } = readCase("ingress-with-auth-jwt-many-keys");
    const translation = translate(world, settings);
    const bytesOf = (kind: string): number =>
      translation.scopes.shared.reduce(
        (sum, { key, body }) => (key.startsWith(`${kind}|`) ? sum + body.length : sum),
        0,
      );
    report(translation);
    expect(bytesOf("endpoints")).to.be.above(0);
    expect(bytesOf("jwks")).to.be.above(0);
    expect(series()["shared "]).to.be.at.least(bytesOf("endpoints") + bytesOf("jwks"));
  });

  it("the TLS settings for backends are counted under the empty name", () => {
    const { report, series } = setUp(1e6);
    for (const name of ["nginx-backend-tls", "gateway-with-backend-tls"]) {
      const { world, settings } = readCase(name);
      const translation = translate(world, settings);
      const isOther = (key: string): boolean => !key.startsWith("route|") && !key.startsWith("backendtls|");
      const { shared } = translation.scopes;
      report({ ...translation, scopes: { shared: shared.filter(({ key }) => isOther(key)), dedicated: [] } });
      const without = series()["shared "] ?? 0;
      report(translation);
      const settingsBytes = shared
        .filter(({ key }) => key.startsWith("backendtls|"))
        .reduce((sum, { body }) => sum + body.length, 0);
      expect(settingsBytes, name).to.be.above(0);
      expect((series()["shared "] ?? 0) - without, name).to.equal(settingsBytes);
    }
  });

  for (const name of ["gateway-with-overlapping-certificates", "gateway-with-frontend-validation"]) {
    it(`certificates and authorities of Gateways are counted for their namespaces only: ${name}`, () => {
      const { report, series } = setUp(1e6);
      const { world, settings } = readCase(name);
      const translation = translate(world, settings);
      const pem = translation.scopes.shared
        .flatMap(({ body }) => body.match(/-----BEGIN.*?-----END[^"]*/g) ?? [])
        .reduce((sum, text) => sum + text.length, 0);
      const other = translation.scopes.shared
        .filter(({ key }) => !key.startsWith("route|"))
        .reduce((sum, { body }) => sum + body.length, 0);
      report(translation);
      expect(pem).to.be.above(0);
      expect(series()["shared "]).to.be.at.most(other - pem);
      expect(series()["shared "]).to.be.above(0);
    });
  }

  it("the certificate that a Gateway shows to backends is counted for its namespace only", () => {
    const { report, series } = setUp(1e6);
    const resource = { key: "backendcert|shop/web" as ResourceKey, hash: "", body: "x".repeat(300) };
    report({ sizes: new Map(), certificateBytes, scopes: { shared: [resource], dedicated: [] } });
    expect(series()).to.deep.equal({ "shared ": 0 });
  });
});
