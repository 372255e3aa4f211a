import { ownPortsIn } from "@svc-gateway/common/ir/own-port-check.ts";
import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { expect } from "chai";
import { createTableBuilder, type Build } from "../../src/build/table-builder.ts";
import { scopeKey } from "../../src/discovery/principals.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { createWorld, emptyWorld, type World } from "../../src/world.ts";
import { dedicatedGatewayYaml, dedicatedSettings, objectsOf } from "../reconcilers/gateway/support.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

const resourcesOf = (snapshot: Snapshot | undefined): readonly Resource[] => snapshot?.resources.values ?? [];

function setUp(settings = defaultTranslateSettings, ownPorts?: () => OwnPorts | undefined) {
  const source: { ready: boolean; present: World; world: () => World } = {
    ready: true,
    present: emptyWorld,
    world: () => source.present,
  };
  const metrics = createMetricSet(controllerMetrics);
  const published: Snapshot[] = [];
  const builds: Build[] = [];
  const build = createTableBuilder({
    source,
    keySets: { fetched: new Map(), want: () => {} },
    settings,
    ...(ownPorts && { ownPorts }),
    publish: (snapshots) => published.push(...snapshots.map(([, snapshot]) => snapshot)),
    onBuild: (done) => builds.push(done),
    metrics,
    log: silentLogger,
  });
  return { source, metrics, published, builds, build };
}

describe("createTableBuilder", () => {
  it("no snapshot is published before every watch has listed", async () => {
    const { source, published, builds, build } = setUp();
    source.ready = false;
    await build();
    expect([published, builds]).to.deep.equal([[], []]);
    source.ready = true;
    await build();
    expect(published).to.have.length(1);
    expect(builds).to.have.length(1);
  });

  it("no snapshot is published before the gateway's pods are known, and then every proxy gets their ports", async () => {
    let known: OwnPorts | undefined;
    const { published, build } = setUp(defaultTranslateSettings, () => known);
    await build();
    expect(published).to.deep.equal([]);
    known = { addresses: [{ host: "10.0.0.7", ports: [8082] }] };
    await build();
    expect(ownPortsIn(resourcesOf(published.at(-1)))).to.deep.equal(known);
    known = { addresses: [] };
    await build();
    expect(published).to.have.length(2);
    expect(ownPortsIn(resourcesOf(published.at(-1)))).to.deep.equal(known);
  });

  it("a snapshot is published only when it differs from the last one, and every build is reported", async () => {
    const { source, published, builds, build, metrics } = setUp();
    source.present = createWorld([svcClass, ingressManifest("a", "a.example")]);
    await build();
    await build();
    source.present = createWorld([svcClass, ingressManifest("a", "b.example")]);
    await build();
    expect(new Set(published.map(({ version }) => version)).size).to.equal(2);
    expect(published).to.have.length(2);
    expect(builds).to.have.length(3);
    expect(metrics.routingTableRebuilds.with({ result: "ok" }).value).to.equal(3);
  });

  it("hosts and routes are counted as proxies count them", async () => {
    const { source, build, metrics } = setUp();
    source.present = createWorld([
      svcClass,
      ingressManifest("a", "a.example", ["/", "/api"]),
      ingressManifest("b", "b.example"),
    ]);
    await build();
    expect(metrics.routingTableHosts.with({}).value).to.equal(2);
    expect(metrics.routingTableRoutes.with({ kind: "ingress" }).value).to.equal(3);
    expect(metrics.routingTableRoutes.with({ kind: "gateway" }).value).to.equal(0);
  });

  it("the last table stays in service when a build fails, and the failure is counted", async () => {
    const { source, build, metrics, published, builds } = setUp();
    await build();
    source.present = { ...emptyWorld, Ingress: undefined } as unknown as World;
    await build();
    expect(metrics.routingTableRebuilds.with({ result: "error" }).value).to.equal(1);
    expect(published).to.have.length(1);
    expect(builds).to.have.length(1);
  });

  it("a Gateway with dedicated proxies gets a scope, which is admitted before anything is published", async () => {
    const order: string[] = [];
    const source = { ready: true, world: () => createWorld(objectsOf(dedicatedGatewayYaml)) };
    await createTableBuilder({
      source,
      keySets: { fetched: new Map(), want: () => {} },
      settings: { ...defaultTranslateSettings, dedicated: dedicatedSettings },
      admit: (gateways) => order.push(...gateways.map(({ serviceAccount }) => `admit ${serviceAccount}`)),
      publish: (snapshots) => order.push(...snapshots.map(([scope]) => `publish ${scopeKey(scope)}`)),
      addResources: (_, scope) => {
        order.push(`add ${scopeKey(scope)}`);
        return [];
      },
      onBuild: () => order.push("the rest"),
      metrics: createMetricSet(controllerMetrics),
      log: silentLogger,
    })();
    expect(order).to.deep.equal([
      "add shared",
      "add shop/edge",
      "admit edge-svc",
      "publish shared",
      "publish shop/edge",
      "the rest",
    ]);
  });

  it("a published snapshot is sent before the rest of the build is handled", async () => {
    const { published, builds, build } = setUp();
    const built = build();
    expect([published.length, builds.length]).to.deep.equal([1, 0]);
    await built;
    expect(builds).to.have.length(1);
  });
});
