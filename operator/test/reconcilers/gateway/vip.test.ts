import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import type { Build } from "../../../src/build/table-builder.ts";
import { createNotes, type Notes } from "../../../src/reconcilers/gateway/notes.ts";
import { vipReconciler } from "../../../src/reconcilers/gateway/vip.ts";
import { createFakeClient, type FakeClient } from "../../support/fake-client.ts";
import { createTestClock } from "../../support/test-clock.ts";
import {
  buildOf,
  dedicatedGatewayYaml,
  dedicatedSettings,
  gatewayYaml,
  objectsOf,
  vips,
  vipYaml,
} from "./support.ts";

const name = "shop-edge-3788f37a-shared-gw";
const path = `/api/v1/namespaces/svc-system/services/${name}`;

function reconcilerOf(
  client: FakeClient,
  refusals: Notes<string> = createNotes(),
  isDone = false,
  isServed: (namespace: string) => boolean = () => true,
) {
  return vipReconciler({
    clock,
    client,
    namespace: vips.namespace,
    isServed,
    handover: { isDone: () => isDone },
    fleet: { subscribe: () => () => undefined },
    provisioned: { subscribe: () => () => undefined },
    refusals,
    taken,
  });
}

/** Reconciles one name while the API server has this Service, if any, and returns the result and the writes sent. */
async function run(
  build: Build,
  live: KubeObject | undefined,
  { refusals, isDone }: { readonly refusals?: Notes<string>; readonly isDone?: boolean } = {},
) {
  const client = createFakeClient(({ method = "GET", path: asked }) => {
    if (method !== "GET") return {};
    return asked.endsWith("/services") ? { items: live === undefined ? [] : [live] } : (live ?? 404);
  });
  const signal = new AbortController().signal;
  const statuses = { write: () => Promise.reject(new Error("no status is written")) };
  const result = await reconcilerOf(client, refusals, isDone).reconcile(name, { build, statuses, signal });
  const sent = client.calls.filter(({ method = "GET" }) => method !== "GET");
  return { result, sent };
}

const dirty = (build: Build) => [...reconcilerOf(createFakeClient(() => 500)).dirty(undefined, build)];

const clock = createTestClock();
const taken = createNotes<string>();
const vip = vipYaml(30_000, "[]");
const [vipObject] = objectsOf(vip);

describe("vipReconciler", () => {
  it("the Service of a Gateway whose class was deleted stays until the Gateway is deleted", async () => {
    const withoutClass = gatewayYaml.replace("name: svc }", "name: other }");
    const held = buildOf(`${withoutClass}---${vip}`);
    expect(dirty(held)).to.deep.equal([]);
    expect(await run(held, vipObject)).to.deep.equal({ result: { ok: true, value: "held" }, sent: [] });
    const gone = await run(buildOf(vip), vipObject);
    expect(gone.sent.map(({ method }) => method)).to.deep.equal(["DELETE"]);
  });

  it("a missing Service of a Gateway is created", async () => {
    const build = buildOf(gatewayYaml);
    expect(dirty(build)).to.deep.equal([name]);
    const { result, sent } = await run(build, undefined);
    expect(result).to.deep.equal({ ok: true, value: "created" });
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({
      path,
      method: "PATCH",
      patch: "apply",
      query: { fieldManager: "svc-controller", force: true },
    });
    expect(sent[0]?.body)
      .to.have.nested.property("spec.ports")
      .that.deep.equals([{ name: "port-80", protocol: "TCP", port: 80, targetPort: 30_000 }]);
  });

  it("a Service that is as desired is not written", () => {
    expect(dirty(buildOf(`${gatewayYaml}---${vip}`))).to.deep.equal([]);
  });

  it("a Service that was changed is restored", async () => {
    const changed = vip.replace("app: proxy", "app: other");
    const build = buildOf(`${gatewayYaml}---${changed}`);
    expect(dirty(build)).to.deep.equal([name]);
    const { result } = await run(build, objectsOf(changed)[0]);
    expect(result).to.deep.equal({ ok: true, value: "updated" });
  });

  it("no Service is written while the routing table does not know the ports of the live one", async () => {
    const { result, sent } = await run(buildOf(gatewayYaml), objectsOf(vipYaml(30_005, "[]"))[0]);
    expect(result).to.deep.equal({ ok: true, value: "waiting" });
    expect(sent).to.deep.equal([]);
  });

  it("a Service that is not as desired is reconciled once, then on changes and every fifteen seconds", async () => {
    const foreign = vip.replace("shared-gateway-vip", "database");
    const reconciler = reconcilerOf(createFakeClient(() => 500));
    const first = buildOf(`${gatewayYaml}---${foreign}`);
    expect([...reconciler.dirty(undefined, first)]).to.deep.equal([name]);
    const second = { ...first, translation: { ...first.translation } };
    expect([...reconciler.dirty(first, second)]).to.deep.equal([]);
    const looked: string[] = [];
    const end = reconciler.subscribe?.((one) => void looked.push(one));
    await clock.advance(14_999);
    expect(looked).to.deep.equal([]);
    await clock.advance(1);
    expect(looked).to.deep.equal([name]);
    const changed = buildOf(gatewayYaml);
    expect([...reconciler.dirty(second, changed)]).to.deep.equal([name]);
    expect([...reconciler.dirty(changed, buildOf(`${gatewayYaml}---${vip}`))]).to.deep.equal([]);
    await clock.advance(15_000);
    end?.();
    await clock.advance(60_000);
    expect(looked).to.deep.equal([name]);
  });

  it("the Service of a deleted Gateway is deleted, and no Service of another owner", async () => {
    const build = buildOf(vip);
    expect(dirty(build)).to.deep.equal([name]);
    const { sent } = await run(build, vipObject);
    expect(sent).to.deep.include({
      path,
      method: "DELETE",
      body: { preconditions: { uid: "uid-vip" } },
      signal: sent[0]?.signal,
    });
    const foreign = objectsOf(vip.replace("shared-gateway-vip", "database"))[0];
    expect((await run(build, foreign)).sent).to.deep.equal([]);
  });

  it("the Service of a Gateway in a namespace that is not served stays, whether the Gateway exists or not", async () => {
    const client = createFakeClient(({ method = "GET" }) => (method === "GET" ? (vipObject ?? 404) : {}));
    const elsewhere = reconcilerOf(client, undefined, false, (namespace) => namespace === "blog");
    for (const yaml of [vip, `${gatewayYaml}---${vip}`]) {
      const build = buildOf(yaml, { watchNamespaces: ["blog"] });
      expect([...elsewhere.dirty(undefined, build)]).to.deep.equal([]);
      const { signal } = new AbortController();
      const statuses = { write: () => Promise.reject(new Error("no status is written")) };
      expect(await elsewhere.reconcile(name, { build, statuses, signal })).to.deep.equal({
        ok: true,
        value: "not served",
      });
    }
    expect(client.calls.map(({ method = "GET" }) => method)).to.deep.equal(["GET", "GET"]);
  });

  it("a Service of another owner under the same name is not taken over", async () => {
    const foreign = objectsOf(vip.replace("shared-gateway-vip", "database"))[0];
    const { result, sent } = await run(buildOf(gatewayYaml), foreign);
    expect(result)
      .to.have.nested.property("error.message")
      .that.includes("was not created by this controller");
    expect(sent).to.deep.equal([]);
  });

  it("the Service of a Gateway that becomes dedicated stays until dedicated proxies serve the Gateway", async () => {
    const build = buildOf(`${dedicatedGatewayYaml}---${vip}`, { dedicated: dedicatedSettings });
    expect(build.translation.vips.map(({ state }) => state)).to.deep.equal(["leaving"]);
    expect(dirty(build)).to.deep.equal([name]);
    const waiting = await run(build, vipObject);
    expect(waiting.result).to.deep.equal({ ok: true, value: "waiting" });
    expect(waiting.sent).to.deep.equal([]);
    const { result } = await run(build, vipObject, { isDone: true });
    expect(result).to.deep.equal({ ok: true, value: "deleted" });
  });

  it("a Gateway without a served listener gets no Service and keeps an existing one", async () => {
    const broken = gatewayYaml.replace("protocol: HTTP }", "protocol: SCTP }");
    expect(dirty(buildOf(broken))).to.deep.equal([]);
    expect((await run(buildOf(broken), undefined)).sent).to.deep.equal([]);
    const build = buildOf(`${broken}---${vip}`);
    expect(dirty(build)).to.deep.equal([]);
    expect(await run(build, vipObject)).to.deep.equal({ result: { ok: true, value: "held" }, sent: [] });
  });

  it("a Gateway whose addresses cannot be assigned gets no Service and keeps an existing one", () => {
    const wish = gatewayYaml.replace(
      "gatewayClassName: svc",
      "gatewayClassName: svc\n  addresses: [{ value: 10.96.0.7 }, { value: 10.96.0.8 }]",
    );
    expect(dirty(buildOf(wish))).to.deep.equal([]);
    expect(dirty(buildOf(`${wish}---${vip}`))).to.deep.equal([]);
  });
});
