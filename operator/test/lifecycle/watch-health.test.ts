import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { expect } from "chai";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { controllerChecks, createWatchHealth } from "../../src/lifecycle/watch-health.ts";
import { createTestClock } from "../support/test-clock.ts";

function setUp() {
  const clock = createTestClock();
  const registry = createHealthRegistry("1");
  const log = fakeLog();
  const health = registry.register("controller", controllerChecks);
  const watchHealth = createWatchHealth({ health, log, clock });
  return {
    clock,
    transitions: () =>
      log.lines.map(({ level, fields }) => [level, fields["check"], fields["from"], fields["to"]]),
    watchHealth,
    checks: () => registry.document().subsystems["controller"]?.checks,
    isReady: () => registry.readiness().isReady,
  };
}

describe("createWatchHealth", () => {
  it("the process is pending until each kind with a check has listed and the table is built", () => {
    const { watchHealth, checks, isReady } = setUp();
    watchHealth.onWatch("Ingress", "", "works");
    watchHealth.onWatch("Gateway", "", "works");
    watchHealth.onWatch("Service", "", "works");
    watchHealth.onTable();
    expect(checks()).to.deep.equal({
      httproute: "Pending",
      ingress: "Ready",
      gateway: "Ready",
      routing_table_built: "Ready",
    });
    expect(isReady()).to.equal(false);
    watchHealth.onWatch("HTTPRoute", "", "works");
    expect(isReady()).to.equal(true);
  });

  it("a check is degraded when its watch has failed for a minute, until it works again", async () => {
    const { watchHealth, checks, clock, isReady } = setUp();
    for (const kind of ["Ingress", "Gateway", "HTTPRoute"] as const) watchHealth.onWatch(kind, "", "works");
    watchHealth.onTable();
    watchHealth.onWatch("Ingress", "", "failed");
    await clock.advance(30_000);
    watchHealth.onWatch("Ingress", "", "failed");
    await clock.advance(29_999);
    expect(checks()?.["ingress"]).to.equal("Ready");
    await clock.advance(1);
    expect(checks()).to.include({ ingress: "Degraded", gateway: "Ready" });
    expect(isReady(), "degraded is ready").to.equal(true);
    watchHealth.onWatch("Ingress", "", "works");
    expect(checks()?.["ingress"]).to.equal("Ready");
  });

  it("each change of a check is logged once", async () => {
    const { watchHealth, transitions, clock } = setUp();
    watchHealth.onWatch("Ingress", "", "works");
    watchHealth.onWatch("Ingress", "", "works");
    watchHealth.onWatch("Ingress", "", "failed");
    await clock.advance(60_000);
    watchHealth.onWatch("Ingress", "", "works");
    watchHealth.exempt("Gateway", "Degraded");
    expect(transitions()).to.deep.equal([
      ["info", "ingress", "Pending", "Ready"],
      ["info", "ingress", "Ready", "Degraded"],
      ["info", "ingress", "Degraded", "Ready"],
      ["info", "gateway", "Pending", "Degraded"],
    ]);
  });

  it("a check is not degraded when its watch recovers within a minute", async () => {
    const { watchHealth, checks, clock } = setUp();
    watchHealth.onWatch("Ingress", "", "works");
    watchHealth.onWatch("Ingress", "", "failed");
    await clock.advance(59_000);
    watchHealth.onWatch("Ingress", "", "works");
    await clock.advance(60_000);
    expect(checks()?.["ingress"]).to.equal("Ready");
  });

  it("a check stays pending while its kind has never listed", async () => {
    const { watchHealth, checks, clock } = setUp();
    watchHealth.onWatch("Ingress", "", "failed");
    await clock.advance(120_000);
    expect(checks()?.["ingress"]).to.equal("Pending");
  });

  it("the table check is degraded while a watch of any other kind fails", async () => {
    const { watchHealth, checks, clock } = setUp();
    watchHealth.onTable();
    watchHealth.onWatch("Secret", "tls", "failed");
    watchHealth.onWatch("Secret", "labelled", "failed");
    await clock.advance(60_000);
    expect(checks()?.["routing_table_built"]).to.equal("Degraded");
    watchHealth.onWatch("Secret", "tls", "works");
    expect(checks()?.["routing_table_built"]).to.equal("Degraded");
    watchHealth.onWatch("Secret", "labelled", "works");
    expect(checks()?.["routing_table_built"]).to.equal("Ready");
  });

  it("the state of a kind that is not watched stays as it was set", () => {
    const { watchHealth, checks } = setUp();
    watchHealth.exempt("Gateway", "Degraded");
    watchHealth.exempt("HTTPRoute", "Ready");
    expect(checks()).to.include({ gateway: "Degraded", httproute: "Ready" });
  });

  it("the table check is degraded while a limit is nearly reached, regardless of the watches", () => {
    const { watchHealth, checks, isReady } = setUp();
    for (const kind of ["Ingress", "Gateway", "HTTPRoute"] as const) watchHealth.onWatch(kind, "", "works");
    watchHealth.onTable();
    watchHealth.onLimit("snapshot size", true);
    watchHealth.onLimit("objects", true);
    expect(checks()).to.include({ routing_table_built: "Degraded", ingress: "Ready" });
    watchHealth.onLimit("snapshot size", false);
    expect(checks()).to.include({ routing_table_built: "Degraded" });
    watchHealth.onLimit("objects", false);
    expect(checks()).to.include({ routing_table_built: "Ready" });
    expect(isReady()).to.equal(true);
  });
});
