import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { policyReconciler } from "../../src/reconcilers/policy.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, updateWorld } from "../../src/world.ts";
import { applyMergePatch } from "../../src/write/merge-patch.ts";
import type { StatusTarget, StatusWriter } from "../../src/write/status-writer.ts";
import { svcClass } from "../support/manifests.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const nowMs = Date.parse("2024-05-01T10:00:00Z");
const now = "2024-05-01T10:00:00Z";
const earlier = "2024-04-01T10:00:00Z";

const service = (name: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop" },
    spec: { ports: [{ port: 80 }] },
  }) as unknown as KubeObject;

const policy = (name: string, services: readonly string[], algorithm = "ewma", generation = 3): KubeObject =>
  ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcBackendPolicy",
    metadata: { name, namespace: "shop", uid: name, generation },
    spec: { targetRefs: services.map((one) => ({ name: one })), loadBalancer: { algorithm } },
  }) as unknown as KubeObject;

/** Settings of this test only, because translations keep state for each settings object from one to the next. */
const settings = { ...defaultTranslateSettings };

const buildOf = (...objects: readonly KubeObject[]): Build => {
  const world = createWorld([svcClass, ...objects]);
  return { world, translation: translate(world, settings) };
};

const changed = ({ world }: Build, ...objects: readonly KubeObject[]): Build => {
  const next = updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );
  return { world: next, translation: translate(next, settings) };
};

async function statusAfter(build: Build, name: string, status: unknown): Promise<unknown> {
  let target: StatusTarget | undefined;
  const statuses: StatusWriter = {
    write(given) {
      target = given;
      return Promise.resolve({ ok: true, value: "written" });
    },
  };
  const reconciler = policyReconciler(
    "SvcBackendPolicy",
    controllerName,
    ({ backendPolicies }) => backendPolicies,
  );
  await reconciler.reconcile(name, { build, statuses, signal: new AbortController().signal });
  return target === undefined ? undefined : applyMergePatch(status, target.change(status, nowMs));
}

const entry = (name: string, status: "True" | "False", reason: string, message: string, time = now) => ({
  ancestorRef: { group: "", kind: "Service", namespace: "shop", name },
  controllerName,
  conditions: [
    { type: "Accepted", status, reason, message, observedGeneration: 3, lastTransitionTime: time },
  ],
});

describe("policyReconciler", () => {
  const build = buildOf(
    service("web"),
    service("api"),
    policy("a", ["web", "gone"]),
    policy("b", ["web", "api"]),
  );

  it("the policy status says for each Service whether the policy applies, and why not", async () => {
    expect(await statusAfter(build, "shop/a", {})).to.deep.equal({
      ancestors: [
        entry("web", "True", "Accepted", "The policy applies to Service shop/web"),
        entry("gone", "False", "TargetNotFound", "Service shop/gone does not exist"),
      ],
    });
    expect(await statusAfter(build, "shop/b", {})).to.deep.equal({
      ancestors: [
        entry(
          "web",
          "False",
          "Conflicted",
          "SvcBackendPolicy shop/a applies to Service shop/web, because it is as old and precedes by namespace and name",
        ),
        entry("api", "True", "Accepted", "The policy applies to Service shop/api"),
      ],
    });
    const unusable = buildOf(service("web"), policy("c", ["web"], "fastest"));
    expect(await statusAfter(unusable, "shop/c", {})).to.deep.equal({
      ancestors: [
        entry("web", "False", "Invalid", "None of the settings is valid: spec.loadBalancer.algorithm"),
      ],
    });
  });

  it("entries of other controllers stay, outdated own ones are removed, and transition times are kept", async () => {
    const theirs = { ...entry("web", "True", "Accepted", "ours too"), controllerName: "example.com/other" };
    const stale = entry("old", "True", "Accepted", "The policy applies to Service shop/old", earlier);
    const kept = entry("web", "True", "Accepted", "The policy applies to Service shop/web", earlier);
    expect(await statusAfter(build, "shop/a", { ancestors: [stale, theirs, kept] })).to.deep.equal({
      ancestors: [theirs, kept, entry("gone", "False", "TargetNotFound", "Service shop/gone does not exist")],
    });
  });

  it("the policy status has at most 16 entries, with those of other controllers first", async () => {
    const theirs = Array.from({ length: 15 }, (_, index) => ({
      ...entry(`s${index}`, "True", "Accepted", "theirs"),
      controllerName: "example.com/other",
    }));
    const after = (await statusAfter(build, "shop/a", { ancestors: theirs })) as { ancestors: object[] };
    expect(after.ancestors).to.deep.equal([
      ...theirs,
      entry("web", "True", "Accepted", "The policy applies to Service shop/web"),
    ]);
  });

  it("own entries are removed from a policy that no longer belongs to this controller", async () => {
    const theirs = { ...entry("web", "True", "Accepted", "ours too"), controllerName: "example.com/other" };
    const off = { world: build.world, translation: { ...build.translation, backendPolicies: [] } };
    const ours = entry("web", "True", "Accepted", "x");
    expect(await statusAfter(off, "shop/a", { ancestors: [ours, theirs] })).to.deep.equal({
      ancestors: [theirs],
    });
    expect(await statusAfter(off, "shop/a", { ancestors: [ours] })).to.deep.equal({ ancestors: [] });
  });

  it("a policy is reconciled only when its status changes", () => {
    const reconciler = policyReconciler(
      "SvcBackendPolicy",
      controllerName,
      ({ backendPolicies }) => backendPolicies,
    );
    expect(new Set(reconciler.dirty(undefined, build))).to.deep.equal(new Set(["shop/a", "shop/b"]));
    expect([...reconciler.dirty(build, changed(build, service("other")))]).to.deep.equal([]);
    const older = policy("b", ["web"], "round_robin", 4);
    expect(new Set(reconciler.dirty(build, changed(build, older)))).to.deep.equal(new Set(["shop/b"]));
    expect(new Set(reconciler.dirty(build, changed(build, service("gone"))))).to.deep.equal(
      new Set(["shop/a"]),
    );
  });

  it("the status of a policy for Gateways has an entry per target, except for Gateways of other controllers", async () => {
    const object = (kind: string, name: string, spec: object): KubeObject =>
      ({
        apiVersion: kind === "Gateway" ? "gateway.networking.k8s.io/v1" : "gateway.svc-labs.dev/v1alpha1",
        kind,
        metadata: { name, namespace: "shop", uid: name, generation: 3 },
        spec,
      }) as unknown as KubeObject;
    const listeners = [{ name: "http", port: 80, protocol: "HTTP" }];
    const withGateways = buildOf(
      {
        ...object("Gateway", "svc", { controllerName }),
        kind: "GatewayClass",
        metadata: { name: "svc" },
      } as KubeObject,
      object("Gateway", "web", { gatewayClassName: "svc", listeners }),
      object("Gateway", "theirs", { gatewayClassName: "another", listeners }),
      object("ClientTrafficPolicy", "proxied", {
        targetRefs: [{ name: "web", sectionName: "http" }, { name: "web" }, { name: "theirs" }],
      }),
      object("SvcExternalAuth", "gate", {
        protocol: "HTTP",
        backendRef: { name: "gate", port: 9000 },
        targetRefs: [{ name: "web" }, { name: "gone" }],
      }),
      object("SvcExternalAuth", "unattached", { protocol: "HTTP", backendRef: { name: "gate", port: 9000 } }),
    );
    const said = async (kind: "SvcExternalAuth" | "ClientTrafficPolicy", name: string): Promise<unknown> => {
      let target: StatusTarget | undefined;
      const reconciler = policyReconciler(kind, controllerName, ({ gatewayPolicies }) => gatewayPolicies);
      await reconciler.reconcile(`shop/${name}`, {
        build: withGateways,
        statuses: {
          write(given) {
            target = given;
            return Promise.resolve({ ok: true, value: "written" });
          },
        },
        signal: new AbortController().signal,
      });
      const { ancestors = [] } = applyMergePatch({}, target?.change({}, nowMs)) as {
        ancestors?: {
          ancestorRef: { name: string; sectionName?: string };
          conditions: { reason: string }[];
        }[];
      };
      return ancestors.map(({ ancestorRef: { name: gateway, sectionName = "" }, conditions }) => [
        gateway,
        sectionName,
        conditions[0]?.reason,
      ]);
    };
    expect(await said("ClientTrafficPolicy", "proxied")).to.deep.equal([
      ["web", "http", "Accepted"],
      ["web", "", "Accepted"],
    ]);
    expect(await said("SvcExternalAuth", "gate")).to.deep.equal([
      ["web", "", "Invalid"],
      ["gone", "", "TargetNotFound"],
    ]);
    expect(await said("SvcExternalAuth", "unattached")).to.deep.equal([]);
  });
});
