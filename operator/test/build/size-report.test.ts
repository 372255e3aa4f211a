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

const nothing = { shared: [], dedicated: [] };

describe("the report of sizes", () => {
  it("the size metric has series for the ten largest namespaces of a scope and drops those that shrink", () => {
    const { report, series } = setUp(1e6);
    const namespaces = Array.from({ length: 12 }, (_, index) => ({
      namespace: `n${index}`,
      bytes: 100 - index,
    }));
    report({ sizes: new Map([["shared", namespaces]]), scopes: nothing });
    expect(Object.keys(series())).to.have.length(11);
    expect(series()).to.include({ "shared n0": 100, "shared n9": 91, "shared ": 0 });
    report({ sizes: new Map([["shared", namespaces.slice(0, 1)]]), scopes: nothing });
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
    report({ sizes: new Map([["shared", [{ namespace: "a", bytes: 499 }]]]), scopes });
    report({ sizes: new Map([["shared", [{ namespace: "a", bytes: 500 }]]]), scopes });
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
});
