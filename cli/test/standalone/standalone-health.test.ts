import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { expect } from "chai";
import { createStandaloneHealth } from "../../src/standalone/standalone-health.ts";

describe("createStandaloneHealth", () => {
  const checksOf = (
    settings: { readonly disableIngress: boolean; readonly disableGatewayApi: boolean },
    isReadable: boolean,
  ): unknown => {
    const registry = createHealthRegistry("0.1.0");
    createStandaloneHealth(registry, settings).sourceRead(isReadable);
    return registry.document().subsystems["controller"]?.checks;
  };

  it("the controller checks are degraded while the folder cannot be read", () => {
    const all = { disableIngress: false, disableGatewayApi: false };
    const ready = { ingress: "Ready", httproute: "Ready", gateway: "Ready" };
    const degraded = { ingress: "Degraded", httproute: "Degraded", gateway: "Degraded" };
    expect(checksOf(all, true)).to.include(ready);
    expect(checksOf(all, false)).to.include(degraded);
  });

  it("the check of a disabled API stays ready", () => {
    const settings = { disableIngress: false, disableGatewayApi: true };
    expect(checksOf(settings, true)).to.include({ ingress: "Ready", httproute: "Ready", gateway: "Ready" });
    expect(checksOf(settings, false)).to.include({ ingress: "Degraded", gateway: "Ready" });
  });

  it("the process is ready when every listener is bound, and stays so when a later one is not", () => {
    const registry = createHealthRegistry("0.1.0");
    const health = createStandaloneHealth(registry, { disableIngress: false, disableGatewayApi: false });
    health.sourceRead(true);
    health.portsBound([443]);
    expect(registry.readiness()).to.deep.include({ isReady: false });
    health.tableServed([80, 443]);
    expect(registry.readiness()).to.deep.equal({
      isReady: false,
      waitingFor: ["proxy/routing_table_loaded: no socket for listener 80, see the log"],
    });
    health.portsBound([80, 443]);
    expect(registry.readiness()).to.deep.equal({ isReady: true });
    health.tableServed([80, 443, 9000]);
    expect(registry.readiness()).to.deep.equal({ isReady: true });
    expect(registry.document()).to.have.nested.property("subsystems.proxy.status", "Degraded");
    health.tableServed([80]);
    expect(registry.document()).to.have.nested.property("subsystems.proxy.status", "Ready");
  });
});
