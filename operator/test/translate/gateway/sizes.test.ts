import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultTranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import type { Translation } from "../../../src/translate/translation.ts";
import { createWorld } from "../../../src/world.ts";

const object = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind,
  metadata: { name, namespace: "shop" },
  ...{ spec },
});

const listeners = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `l${index}`,
    port: 80,
    protocol: "HTTP",
    hostname: `${prefix}-${index}.example.com`,
  }));

const neighbour = object("HTTPRoute", "neighbour", {
  parentRefs: [{ name: "edge" }],
  hostnames: ["edge-0.example.com"],
  rules: [{ matches: [{ path: { type: "Exact", value: "/neighbour" } }] }],
});

const run = (...objects: readonly KubeObject[]): Translation =>
  translate(
    createWorld([
      object("GatewayClass", "svc", { controllerName: "svc-labs.dev/gateway-controller" }),
      ...objects,
      neighbour,
    ]),
    defaultTranslateSettings,
  );

const isTrue = ({
  conditions,
}: {
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}) => conditions.some(({ type, status }) => type === "Accepted" && status === "True");

describe("Gateways and routes of the greatest size", () => {
  it("a Gateway of 64 listeners and four such ListenerSets are all served, with the routes of each listener counted", () => {
    const sets = Array.from({ length: 4 }, (_, index) => `set${index}`);
    const { gatewayStatuses, routing } = run(
      object("Gateway", "edge", {
        gatewayClassName: "svc",
        allowedListeners: { namespaces: { from: "Same" } },
        listeners: listeners("edge", 64),
      }),
      ...sets.map((name) =>
        object("ListenerSet", name, { parentRef: { name: "edge" }, listeners: listeners(name, 64) }),
      ),
      object("HTTPRoute", "everywhere", {
        parentRefs: [{ name: "edge" }, ...sets.map((name) => ({ kind: "ListenerSet", name }))],
      }),
    );
    const [gateway] = gatewayStatuses.gateways;
    expect(gateway?.listeners.filter(isTrue)).to.have.lengthOf(64);
    expect(gateway?.attachedListenerSets).to.equal(4);
    expect(gateway?.listeners.map(({ attachedRoutes }) => attachedRoutes)).to.deep.equal([
      2,
      ...Array.from({ length: 63 }, () => 1),
    ]);
    for (const { listeners: ofSet } of gatewayStatuses.listenerSets) {
      expect(ofSet.filter((one) => isTrue(one) && one.attachedRoutes === 1)).to.have.lengthOf(64);
    }
    expect(routing.hosts.filter(({ group }) => group === "gateway")).to.have.lengthOf(320);
  });

  it("an HTTPRoute of 16 rules with 64 matches is served with every match, beside other routes", () => {
    const rules = Array.from({ length: 16 }, (_, rule) => ({
      matches: Array.from({ length: 64 }, (__, match) => ({
        path: { type: "Exact", value: `/${rule}/${match}` },
      })),
    }));
    const { gatewayStatuses, routing } = run(
      object("Gateway", "edge", { gatewayClassName: "svc", listeners: listeners("edge", 1) }),
      object("HTTPRoute", "big", { parentRefs: [{ name: "edge" }], rules }),
    );
    const [host] = routing.hosts.filter(({ group }) => group === "gateway");
    const paths = new Set(host?.value.routes.map(({ match }) => match.path.value));
    expect(paths.size).to.equal(16 * 64 + 1);
    expect(paths).to.include("/neighbour").and.to.include("/15/63");
    for (const { parents } of gatewayStatuses.routes) expect(parents.every(isTrue)).to.equal(true);
  });
});
