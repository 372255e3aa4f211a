import { expect } from "chai";
import { createHealthRegistry } from "@svc-gateway/common/admin/health.ts";
import type { ControllerView } from "@svc-gateway/operator/control/controller.ts";
import { controllerSource } from "../../src/console/sources.ts";
import { buildOf, shop } from "./support.ts";

type Known = ReturnType<ControllerView["proxies"]>[number];

const pod: Known["pod"] = {
  name: "proxy-1",
  namespace: "svc-system",
  ip: "10.0.0.1",
  adminPort: 8082,
  component: "shared-proxy",
  gatewayRef: null,
  node: "n1",
  phase: "Running",
  restarts: 0,
  createdAt: null,
};

const node: NonNullable<Known["node"]> = {
  nodeId: "proxy-1",
  identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
  scope: { kind: "shared" },
  release: "1.2.3",
  health: "degraded",
  degradedChecks: ["routing_table_loaded"],
  boundPorts: [80],
  lastAckedVersion: "abc",
  isInSync: false,
  behindMs: 5000,
  unknownFields: [],
};

describe("the source of a controller's console", () => {
  const settings = { podName: "c-0", podNamespace: "svc-system", controllerName: "example.com/c" };

  it("a proxy is shown with what it reports, and one of another replica without", () => {
    const view: ControllerView = {
      build: () => undefined,
      proxies: () => [
        { pod, node },
        { pod: { ...pod, name: "proxy-2", gatewayRef: "a/gw", node: null }, node: undefined },
      ],
      isLeading: () => true,
    };
    const source = controllerSource(settings, view, createHealthRegistry("1"));
    expect(source.build()).to.equal(undefined);
    expect(source.proxies()).to.deep.equal([
      {
        name: "proxy-1",
        namespace: "svc-system",
        scope: "shared",
        phase: "Running",
        node: "n1",
        stream: {
          release: "1.2.3",
          health: "degraded",
          degradedChecks: ["routing_table_loaded"],
          version: "abc",
          isInSync: false,
          behindMs: 5000,
        },
      },
      { name: "proxy-2", namespace: "svc-system", scope: "a/gw", phase: "Running", node: "" },
    ]);
    expect(Object.fromEntries(source.facts())).to.include({ Pod: "svc-system/c-0", Leader: "this replica" });
  });

  it("a build keeps its identity until the next one, so that pages keep what they made of it", async () => {
    const { state, translation } = await buildOf(shop());
    let last = { world: state.world, translation, builtMs: 1 };
    const view: ControllerView = { build: () => last, proxies: () => [], isLeading: () => false };
    const source = controllerSource(settings, view, createHealthRegistry("1"));
    const first = source.build();
    expect(source.build()).to.equal(first);
    last = { ...last, builtMs: 2 };
    expect(source.build()).to.not.equal(first);
    expect(source.build()?.translation).to.equal(translation);
  });
});
