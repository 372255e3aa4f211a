import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { backendTlsPolicyReconciler } from "../../src/reconcilers/backend-tls-policy.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, type World } from "../../src/world.ts";
import { applyMergePatch } from "../../src/write/merge-patch.ts";
import type { StatusTarget, StatusWriter } from "../../src/write/status-writer.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const now = "2024-05-01T10:00:00Z";
const group = "gateway.networking.k8s.io";

const object = (apiVersion: string, kind: string, name: string, spec: object): KubeObject =>
  ({
    apiVersion,
    kind,
    metadata: { name, namespace: "shop", uid: name, generation: 3 },
    spec,
  }) as unknown as KubeObject;

const gatewayApi = (kind: string, name: string, spec: object): KubeObject =>
  object(`${group}/v1`, kind, name, spec);

/** A Service behind these Gateways, and a policy for it. */
const worldOf = (gateways: readonly string[], wellKnownCACertificates = "System"): World =>
  createWorld([
    { ...gatewayApi("GatewayClass", "svc", { controllerName }), metadata: { name: "svc" } },
    ...gateways.map((name, index) =>
      gatewayApi("Gateway", name, {
        gatewayClassName: "svc",
        listeners: [{ name: "http", port: 8000 + index, protocol: "HTTP" }],
      }),
    ),
    gatewayApi("HTTPRoute", "web", {
      parentRefs: gateways.map((name) => ({ name })),
      rules: [{ backendRefs: [{ name: "web", port: 443 }] }],
    }),
    object("v1", "Service", "web", { ports: [{ name: "https", port: 443 }] }),
    gatewayApi("BackendTLSPolicy", "web", {
      targetRefs: [{ group: "", kind: "Service", name: "web" }],
      validation: { hostname: "web.test", wellKnownCACertificates },
    }),
  ]);

const buildOf = (world: World): Build => ({ world, translation: translate(world, defaultTranslateSettings) });

async function statusAfter(build: Build, status: unknown): Promise<unknown> {
  let target: StatusTarget | undefined;
  const statuses: StatusWriter = {
    write(given) {
      target = given;
      return Promise.resolve({ ok: true, value: "written" });
    },
  };
  const reconciler = backendTlsPolicyReconciler({ controllerName });
  await reconciler.reconcile("shop/web", { build, statuses, signal: new AbortController().signal });
  return target && applyMergePatch(status, target.change(status, Date.parse(now)));
}

const condition = (type: string, status: string, reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 3,
  lastTransitionTime: now,
});

const entryOf = (name: string, conditions: readonly object[]) => ({
  ancestorRef: { group, kind: "Gateway", namespace: "shop", name },
  controllerName,
  conditions,
});

const resolved = condition("ResolvedRefs", "True", "ResolvedRefs", "All references are resolved");
const accepted = condition("Accepted", "True", "Accepted", "The policy applies");

describe("backendTlsPolicyReconciler", () => {
  const foreign = { ancestorRef: { name: "theirs" }, controllerName: "example.com/other", conditions: [] };

  it("the status has an entry for each Gateway whose routes lead to the Service, beside those of other controllers", async () => {
    expect(await statusAfter(buildOf(worldOf(["a", "b"])), { ancestors: [foreign] })).to.deep.equal({
      ancestors: [foreign, entryOf("a", [accepted, resolved]), entryOf("b", [accepted, resolved])],
    });
  });

  it("the status says why a policy is not accepted", async () => {
    const why = 'wellKnownCACertificates "Own" is not known, expected System';
    expect(await statusAfter(buildOf(worldOf(["a"], "Own")), {})).to.deep.equal({
      ancestors: [entryOf("a", [condition("Accepted", "False", "Invalid", why), resolved])],
    });
  });

  it("own entries are removed when no route leads to the Service any more", async () => {
    const build = buildOf(worldOf(["a"]));
    const before = await statusAfter(build, { ancestors: [foreign] });
    const off = { ...build, translation: { ...build.translation, backendTlsPolicies: [] } };
    expect(await statusAfter(off, before)).to.deep.equal({ ancestors: [foreign] });
    const own = await statusAfter(build, {});
    expect(await statusAfter(off, own), "the list is required").to.deep.equal({ ancestors: [] });
  });

  it("a policy is reconciled only when it has changed", () => {
    const reconciler = backendTlsPolicyReconciler({ controllerName });
    const build = buildOf(worldOf(["a"]));
    expect([...reconciler.dirty(undefined, build)]).to.deep.equal(["shop/web"]);
    expect([...reconciler.dirty(build, buildOf(build.world))]).to.deep.equal([]);
  });
});
