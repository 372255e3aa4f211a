import { expect } from "chai";
import { kindNames, type KindName } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { classFinalizer, finalizer } from "../../src/reconcilers/gateway/dedicated/finalizer.ts";
import { createReconcilers } from "../../src/reconcilers/index.ts";
import { noNodeAddresses } from "../../src/sources/kubernetes/node-addresses.ts";
import type { StatusWriter } from "../../src/write/status-writer.ts";
import { createFakeCluster, type FakeCluster } from "./gateway/dedicated/fake-cluster.ts";
import { buildOf, dedicatedGatewayYaml, dedicatedSettings, gatewayYaml, vips } from "./gateway/support.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const sharedYaml = gatewayYaml.slice(gatewayYaml.indexOf("---")).replaceAll("edge", "common");
const routeYaml = `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop, uid: uid-web, generation: 1 }
spec: { parentRefs: [{ name: common }] }
---
apiVersion: gateway.svc-labs.dev/v1alpha1
kind: RateLimit
metadata: { name: limit, namespace: shop, uid: uid-limit, generation: 1 }
spec: { rates: [{ requests: 10, period: 1s }] }
`;
const gatewayPath = (name: string): string =>
  `/apis/gateway.networking.k8s.io/v1/namespaces/shop/gateways/${name}`;
const classPath = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/svc";

/** A Gateway with dedicated proxies, one on the shared proxies and a route in the namespace `shop`, as manifests. */
const yamlOf = (cluster: FakeCluster): string => {
  const made = [...cluster.objects.values()].filter(({ kind }) => kind === "Service" || kind === "ConfigMap");
  const isHeld = cluster.objects.get(gatewayPath("edge"))?.metadata.finalizers?.includes(finalizer);
  return [
    dedicatedGatewayYaml.replace("finalizers: []", `finalizers: [${isHeld === true ? finalizer : ""}]`),
    sharedYaml,
    routeYaml,
    ...made.map((object) => `---\n${JSON.stringify(object)}\n`),
  ].join("");
};

/** The cluster before anything was created for these Gateways. */
function emptyCluster(): FakeCluster {
  const gateway = (name: string): object => ({
    kind: "Gateway",
    metadata: { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: "1", finalizers: [] },
  });
  const gatewayClass = { kind: "GatewayClass", metadata: { name: "svc", resourceVersion: "1" } };
  return createFakeCluster({
    [gatewayPath("edge")]: gateway("edge"),
    [gatewayPath("common")]: gateway("common"),
    [classPath]: gatewayClass,
  });
}

/** A status with entries of the controller. */
const entries = [{ controllerName, conditions: [] }];
const status = { parents: entries, ancestors: entries };

/** Runs all reconcilers of a new controller that serves these namespaces, and returns what they write. */
async function run(cluster: FakeCluster, served: readonly string[], observed: readonly string[] = []) {
  const build: Build = buildOf(yamlOf(cluster), {
    dedicated: dedicatedSettings,
    watchNamespaces: served,
  });
  const reconcilers = createReconcilers({
    client: cluster.client,
    controllerName,
    observed: () => ({ status }),
    servedNamespaces: served,
    installNamespace: "svc-system",
    fleet: { isProgrammed: () => true, subscribe: () => () => undefined },
    installed: new Set<KindName>(kindNames),
    vips,
    provisioned: cluster.provisioned,
    hasDedicated: true,
    nodes: noNodeAddresses,
    gatewayFields: {
      has: () => true,
      isKnown: () => true,
      subscribe: () => () => undefined,
      done: Promise.resolve(),
    },
    statusAddress: undefined,
    sharedProxyService: { namespace: "svc-system", name: "svc-shared-proxy" },
  });
  const statuses: string[] = [];
  const writer: StatusWriter = {
    write({ kind, name }) {
      statuses.push(`${kind} ${name}`);
      return Promise.resolve({ ok: true, value: "written" });
    },
  };
  const known = cluster.writes().length;
  for (const reconciler of reconcilers) {
    const names = new Set([
      ...reconciler.dirty(undefined, build),
      ...(reconciler.kind === undefined ? [] : observed),
    ]);
    for (const name of names) {
      await reconciler.reconcile(name, { build, statuses: writer, signal: new AbortController().signal });
    }
  }
  return { statuses, writes: cluster.writes().slice(known), world: build.world };
}

const names = (cluster: FakeCluster): readonly string[] =>
  [...cluster.objects.values()].map(({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`);

describe("the namespaces that reconcilers leave alone", () => {
  let cluster: FakeCluster;
  beforeEach(async () => {
    cluster = emptyCluster();
    await run(cluster, ["shop"]);
    expect(names(cluster)).to.include.members([
      "Deployment edge-svc",
      "Service edge-svc",
      "ServiceAccount edge-svc",
      "ConfigMap svc-discovery-trust",
    ]);
    expect(names(cluster).filter((name) => /-shared-gw$|-shared-sa$/.test(name))).to.have.length(2);
    expect(cluster.objects.get(gatewayPath("edge"))?.metadata.finalizers).to.deep.equal([finalizer]);
    expect(cluster.objects.get(classPath)?.metadata.finalizers).to.deep.equal([classFinalizer]);
  });

  it("the objects, finalizers and statuses of Gateways in other namespaces are not touched", async () => {
    const observed = ["shop/edge", "shop/common", "shop/web", "shop/limit"];
    const { writes, statuses } = await run(cluster, ["blog"], observed);
    expect(writes.filter((write) => !write.endsWith("/svc-system/secrets"))).to.deep.equal([]);
    expect(statuses).to.deep.equal(["GatewayClass svc"]);
  });

  it("the finalizer of a class stays while Gateways of other namespaces use the class", async () => {
    const { world } = await run(cluster, ["blog"]);
    expect(world.Gateway).to.have.length(2);
    expect(cluster.objects.get(classPath)?.metadata.finalizers).to.deep.equal([classFinalizer]);
  });
});
