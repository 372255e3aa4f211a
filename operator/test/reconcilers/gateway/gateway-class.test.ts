import { expect } from "chai";
import { kindNames } from "../../../src/api/kinds.ts";
import { gatewayClassReconciler } from "../../../src/reconcilers/gateway/gateway-class.ts";
import { brief, buildOf, statusAfter } from "./support.ts";

const classYaml = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: svc, uid: svc, generation: 1 }
spec: { controllerName: svc-labs.dev/gateway-controller }
`;
const build = buildOf(classYaml);

/** Fields of definitions that the test controls. */
function fakeFields() {
  const listeners = new Set<() => void>();
  const state = { isKnown: false, lacks: new Set<string>() };
  return {
    has: ({ path }: { readonly path: readonly string[] }) => !state.lacks.has(path.join(".")),
    isKnown: () => state.isKnown,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setLacks(lacks: readonly string[]): void {
      state.isKnown = true;
      state.lacks = new Set(lacks);
      for (const listener of listeners) listener();
    },
  };
}

describe("the reconciler of GatewayClasses", () => {
  const featuresOf = (status: unknown): readonly string[] | undefined =>
    (status as { supportedFeatures?: readonly { name: string }[] }).supportedFeatures?.map(
      ({ name }) => name,
    );

  it("the condition SupportedVersion says whether the installed Gateway API version is supported", async () => {
    const conditionsOf = async (version: string): Promise<readonly string[]> => {
      const reconciler = gatewayClassReconciler(new Set(kindNames), fakeFields());
      const older = buildOf(classYaml.replace("k8s.io/v1", `k8s.io/${version}`));
      return brief(((await statusAfter(reconciler, older, "svc")) as { conditions: unknown }).conditions);
    };
    const accepted = "Accepted=True Accepted@1";
    expect(await conditionsOf("v1")).to.have.members([accepted, "SupportedVersion=True SupportedVersion@1"]);
    expect(await conditionsOf("v1beta1")).to.have.members([
      accepted,
      "SupportedVersion=False UnsupportedVersion@1",
    ]);
  });

  it("supportedFeatures lists the features whose fields the installed definitions have", async () => {
    const fields = fakeFields();
    const reconciler = gatewayClassReconciler(new Set(kindNames), fields);
    fields.setLacks(["spec.rules.retry"]);
    const features = featuresOf(await statusAfter(reconciler, build, "svc"));
    expect(features).to.include("HTTPRouteCORS").and.not.include("HTTPRouteRetryCodes");
  });

  it("GatewayListenerFilters is listed only where Gateways do not have the field", async () => {
    const fields = fakeFields();
    const reconciler = gatewayClassReconciler(new Set(kindNames), fields);
    fields.setLacks([]);
    expect(featuresOf(await statusAfter(reconciler, build, "svc"))).to.include("GatewayListenerFilters");
    fields.setLacks(["spec.listeners.filters"]);
    expect(featuresOf(await statusAfter(reconciler, build, "svc"))).not.to.include("GatewayListenerFilters");
  });

  it("supportedFeatures stays as it is while the definitions are unknown", async () => {
    const reconciler = gatewayClassReconciler(new Set(kindNames), fakeFields());
    const present = { supportedFeatures: [{ name: "HTTPRoute" }] };
    expect(featuresOf(await statusAfter(reconciler, build, "svc", present))).to.deep.equal(["HTTPRoute"]);
    expect(featuresOf(await statusAfter(reconciler, build, "svc"))).to.equal(undefined);
  });

  it("the classes are reconciled again when the definitions change", () => {
    const fields = fakeFields();
    const reconciler = gatewayClassReconciler(new Set(kindNames), fields);
    expect([...reconciler.dirty(undefined, build)]).to.deep.equal(["svc"]);
    const looked: string[] = [];
    const unsubscribe = reconciler.subscribe?.((name) => looked.push(name));
    fields.setLacks([]);
    unsubscribe?.();
    fields.setLacks(["spec.rules.retry"]);
    expect(looked).to.deep.equal(["svc"]);
  });
});
