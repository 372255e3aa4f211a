import { expect } from "chai";
import { classFinalizerReconciler } from "../../../src/reconcilers/gateway/class-finalizer.ts";
import { classFinalizer } from "../../../src/reconcilers/gateway/dedicated/finalizer.ts";
import { createFakeClient } from "../../support/fake-client.ts";
import { buildOf, gatewayYaml } from "./support.ts";

const path = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/svc";
const classWith = (metadata: string, controller = "svc-labs.dev/gateway-controller"): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: svc, uid: uid-class, ${metadata} }
spec: { controllerName: ${controller} }
`;
const gateway = gatewayYaml.slice(gatewayYaml.indexOf("---") + 3);

/** Reconciles the class, stored in the API server with these finalizers, and returns the result and the writes sent. */
async function run(yaml: string, finalizers: readonly string[]) {
  const live = {
    kind: "GatewayClass",
    metadata: { name: "svc", uid: "uid-class", resourceVersion: "7", finalizers },
  };
  const client = createFakeClient(({ method = "GET" }) => (method === "GET" ? live : {}));
  const reconciler = classFinalizerReconciler({ client, controllerName: "svc-labs.dev/gateway-controller" });
  const build = buildOf(yaml);
  const statuses = { write: () => Promise.reject(new Error("no status is written")) };
  const dirty = [...reconciler.dirty(undefined, build)];
  const again = [...reconciler.dirty(build, build)];
  const { signal } = new AbortController();
  const result = await reconciler.reconcile("svc", { build, statuses, signal });
  const sent = client.calls.filter(({ method = "GET" }) => method !== "GET");
  return { dirty, again, result, sent };
}

describe("the finalizer of GatewayClasses", () => {
  it("the class finalizer is added to a class of this controller that has a Gateway, beside other finalizers", async () => {
    const { dirty, again, result, sent } = await run(`${classWith("")}---${gateway}`, ["other/one"]);
    expect([dirty, again]).to.deep.equal([["svc"], []]);
    expect(result).to.deep.equal({ ok: true, value: "updated" });
    expect(sent.map(({ method, path: at, body }) => ({ method, at, body }))).to.deep.equal([
      {
        method: "PATCH",
        at: path,
        body: { metadata: { resourceVersion: "7", finalizers: ["other/one", classFinalizer] } },
      },
    ]);
  });

  it("the class finalizer stays while there is a Gateway, even if the class is being deleted", async () => {
    const going = `finalizers: [${classFinalizer}], deletionTimestamp: "2026-01-01T00:00:00Z"`;
    const { dirty, sent } = await run(`${classWith(going)}---${gateway}`, [classFinalizer]);
    expect([dirty, sent]).to.deep.equal([[], []]);
  });

  it("the class finalizer is removed with the last Gateway", async () => {
    const { dirty, sent } = await run(classWith(`finalizers: [other/one, ${classFinalizer}]`), [
      "other/one",
      classFinalizer,
    ]);
    expect(dirty).to.deep.equal(["svc"]);
    expect(sent[0]?.body).to.deep.equal({ metadata: { resourceVersion: "7", finalizers: ["other/one"] } });
  });

  it("the class finalizer is not added to other controllers' classes or to a class that is being deleted", async () => {
    const foreign = await run(`${classWith("", "example.com/other")}---${gateway}`, []);
    expect([foreign.dirty, foreign.sent]).to.deep.equal([[], []]);
    const going = `finalizers: [other/one], deletionTimestamp: "2026-01-01T00:00:00Z"`;
    expect((await run(`${classWith(going)}---${gateway}`, ["other/one"])).sent).to.deep.equal([]);
  });
});
