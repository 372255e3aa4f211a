import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import { expect } from "chai";
import { createStandaloneHealth } from "../../src/standalone/health.ts";

describe("createStandaloneHealth", () => {
  const checksOf = (
    settings: { readonly disableIngress: boolean; readonly disableGatewayApi: boolean },
    isReadable: boolean,
  ): unknown => {
    const registry = createHealthRegistry("0.1.0");
    createStandaloneHealth(registry, settings).sourceRead(isReadable);
    return registry.document().subsystems["controller"]?.checks;
  };

  it("degrades what comes from a folder that cannot be read", () => {
    const all = { disableIngress: false, disableGatewayApi: false };
    const ready = { ingress: "Ready", httproute: "Ready", gateway: "Ready" };
    const degraded = { ingress: "Degraded", httproute: "Degraded", gateway: "Degraded" };
    expect(checksOf(all, true)).to.include(ready);
    expect(checksOf(all, false)).to.include(degraded);
  });

  it("finds nothing wrong with what is switched off", () => {
    const settings = { disableIngress: false, disableGatewayApi: true };
    expect(checksOf(settings, true)).to.include({ ingress: "Ready", httproute: "Ready", gateway: "Ready" });
    expect(checksOf(settings, false)).to.include({ ingress: "Degraded", gateway: "Ready" });
  });
});
