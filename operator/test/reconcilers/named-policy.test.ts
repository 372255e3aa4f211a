import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { namedPolicyReconciler } from "../../src/reconcilers/named-policy.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, updateWorld } from "../../src/world.ts";
import { applyMergePatch } from "../../src/write/merge-patch.ts";
import type { StatusTarget, StatusWriter } from "../../src/write/status-writer.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const nowMs = Date.parse("2024-05-01T10:00:00Z");
const now = "2024-05-01T10:00:00Z";

const rateLimit = (spec: object): KubeObject =>
  ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "RateLimit",
    metadata: { name: "slow", namespace: "ns", uid: "slow", generation: 2 },
    spec,
  }) as unknown as KubeObject;

const user = (name: string): KubeObject =>
  ingressManifest(name, `${name}.example`, ["/"], { "ingress.svc-labs.dev/rate-limit": "ns/slow" });

const settings = { ...defaultTranslateSettings };
const start = createWorld([svcClass, rateLimit({ requestsPerSecond: 1 }), user("a")]);
const build: Build = { world: start, translation: translate(start, settings) };
const changed = (object: KubeObject): Build => {
  const world = updateWorld(start, [{ type: "apply", object }]);
  return { world, translation: translate(world, settings) };
};
const reconciler = namedPolicyReconciler("RateLimit", { controllerName, isAttached: false });

async function statusAfter(of: Build, status: unknown, name = "ns/slow", by = reconciler): Promise<unknown> {
  let target: StatusTarget | undefined;
  const statuses: StatusWriter = {
    write(given) {
      target = given;
      return Promise.resolve({ ok: true, value: "written" });
    },
  };
  await by.reconcile(name, { build: of, statuses, signal: new AbortController().signal });
  return target === undefined ? undefined : applyMergePatch(status, target.change(status, nowMs));
}

const entry = {
  controllerName,
  conditions: [
    {
      type: "Accepted",
      status: "True",
      reason: "Accepted",
      message: "The policy is valid",
      observedGeneration: 2,
      lastTransitionTime: now,
    },
  ],
  usedBy: {
    count: 1,
    elsewhere: 0,
    objects: [{ kind: "Ingress", name: "a" }],
    summary: "Ingress a",
  },
};

describe("namedPolicyReconciler", () => {
  it("a policy gets an entry with its conditions and users", async () => {
    expect(await statusAfter(build, undefined)).to.deep.equal({ controllers: [entry] });
  });

  it("entries of other controllers stay, and a status that is up to date is not changed", async () => {
    const other = { controllerName: "example.com/other", usedBy: { count: 7, elsewhere: 7 } };
    const status = { controllers: [other, entry] };
    expect(await statusAfter(build, { controllers: [other] })).to.deep.equal(status);
    expect(await statusAfter(build, status)).to.deep.equal(status);
  });

  it("a condition that stays the same keeps its time", async () => {
    const earlier = "2024-04-01T10:00:00Z";
    const [condition] = entry.conditions;
    const before = {
      controllers: [{ ...entry, conditions: [{ ...condition, lastTransitionTime: earlier }] }],
    };
    const after = await statusAfter(changed(user("b")), before);
    expect(after).to.have.nested.property("controllers[0].conditions[0].lastTransitionTime", earlier);
    expect(after).to.have.nested.property("controllers[0].usedBy.count", 2);
  });

  it("a policy whose status changes is reconciled, and no other one", () => {
    const own = { ...defaultTranslateSettings };
    const builds: Build[] = [{ world: start, translation: translate(start, own) }];
    const dirtyAfter = (object: KubeObject): readonly string[] => {
      const previous = builds.at(-1);
      const world = updateWorld(previous?.world ?? start, [{ type: "apply", object }]);
      const next = { world, translation: translate(world, own) };
      builds.push(next);
      return [...reconciler.dirty(previous, next)];
    };
    expect([...reconciler.dirty(undefined, build)]).to.deep.equal(["ns/slow"]);
    expect(dirtyAfter(ingressManifest("c", "c.example"))).to.deep.equal([]);
    expect(dirtyAfter(user("b"))).to.deep.equal(["ns/slow"]);
    expect(dirtyAfter(rateLimit({}))).to.deep.equal(["ns/slow"]);
  });

  it("a SvcExternalAuth without targetRefs loses our ancestors, and keeps those of other controllers", async () => {
    const gate = {
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate", namespace: "ns", uid: "gate", generation: 2 },
      spec: { protocol: "HTTP", backendRef: { name: "gate", port: 9000 } },
    } as unknown as KubeObject;
    const ancestor = (name: string, controller: string) => ({
      ancestorRef: { group: "gateway.networking.k8s.io", kind: "Gateway", namespace: "ns", name },
      controllerName: controller,
      conditions: [],
    });
    const theirs = ancestor("edge", "example.com/other");
    const after = await statusAfter(
      changed(gate),
      { ancestors: [ancestor("edge", controllerName), theirs] },
      "ns/gate",
      namedPolicyReconciler("SvcExternalAuth", { controllerName, isAttached: true }),
    );
    expect(after).to.have.deep.property("ancestors", [theirs]);
    expect(after).to.have.nested.property("controllers[0].controllerName", controllerName);
  });

  it("the entry of a policy that is no longer served is removed", async () => {
    const unwatched = translate(start, { ...settings, watchNamespaces: ["elsewhere"] });
    const after = await statusAfter({ world: start, translation: unwatched }, { controllers: [entry] });
    expect(after).to.deep.equal({});
  });
});
