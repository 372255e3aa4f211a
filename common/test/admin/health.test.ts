import { expect } from "chai";
import { createHealthRegistry } from "../../src/admin/health.ts";

describe("health registry", () => {
  it("reports every check, and per subsystem the worst of them", () => {
    const health = createHealthRegistry("1.2.3");
    const controller = health.register("controller", ["httproute", "ingress", "routing_table_built"]);
    const proxy = health.register("proxy", ["routing_table_loaded"]);
    const statusOf = (name: string) => health.document().subsystems[name]?.status;
    expect(statusOf("controller")).to.equal("Pending");
    controller.set("httproute", "Degraded");
    controller.set("ingress", "Ready");
    expect(statusOf("controller")).to.equal("Pending");
    controller.set("routing_table_built", "Ready");
    expect(statusOf("controller")).to.equal("Degraded");
    controller.set("httproute", "Ready");
    proxy.set("routing_table_loaded", "Ready");
    expect(health.document()).to.deep.equal({
      version: "1.2.3",
      subsystems: {
        controller: {
          status: "Ready",
          checks: { httproute: "Ready", ingress: "Ready", routing_table_built: "Ready" },
        },
        proxy: { status: "Ready", checks: { routing_table_loaded: "Ready" } },
      },
    });
    expect(controller.get("ingress")).to.equal("Ready");
  });

  it("is ready when no check is pending, degraded ones included", () => {
    const health = createHealthRegistry("0");
    const proxy = health.register("proxy", ["routing_table_loaded"]);
    const controller = health.register("controller", ["ingress", "gateway"]);
    expect(health.readiness()).to.deep.equal({
      isReady: false,
      waitingFor: ["proxy/routing_table_loaded", "controller/ingress", "controller/gateway"],
    });
    proxy.set("routing_table_loaded", "Ready");
    controller.set("ingress", "Ready");
    expect(health.readiness()).to.deep.equal({ isReady: false, waitingFor: ["controller/gateway"] });
    controller.set("gateway", "Degraded");
    expect(health.readiness()).to.deep.equal({ isReady: true });
  });

  it("is not ready before anything is registered, and never again once it shuts down", () => {
    const health = createHealthRegistry("0");
    expect(health.readiness().isReady).to.equal(false);
    health.register("proxy", ["routing_table_loaded"]).set("routing_table_loaded", "Ready");
    health.beginShutdown();
    expect(health.readiness()).to.deep.equal({ isReady: false, waitingFor: ["shutting down"] });
  });

  it("refuses a second subsystem of one name", () => {
    const health = createHealthRegistry("0");
    health.register("proxy", ["routing_table_loaded"]);
    expect(() => health.register("proxy", ["routing_table_loaded"])).to.throw("registered twice");
  });
});
