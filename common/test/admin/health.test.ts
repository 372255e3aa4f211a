import { expect } from "chai";
import { createHealthRegistry } from "../../src/admin/health.ts";

describe("health registry", () => {
  it("the health document has every check, and the worst of them per subsystem", () => {
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

  it("the process is ready when no check is pending, even if some are degraded", () => {
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

  it("the process is not ready before a subsystem is registered, nor after shutdown has begun", () => {
    const health = createHealthRegistry("0");
    expect(health.readiness().isReady).to.equal(false);
    health.register("proxy", ["routing_table_loaded"]).set("routing_table_loaded", "Ready");
    health.beginShutdown();
    expect(health.readiness()).to.deep.equal({ isReady: false, waitingFor: ["shutting down"] });
  });

  it("a second subsystem of the same name throws", () => {
    const health = createHealthRegistry("0");
    health.register("proxy", ["routing_table_loaded"]);
    expect(() => health.register("proxy", ["routing_table_loaded"])).to.throw("registered twice");
  });
});
