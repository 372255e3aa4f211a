import { expect } from "chai";
import type { KubeObject } from "../../../../src/api/object.ts";
import { defaultTranslateSettings } from "../../../../src/translate/settings.ts";
import { translate } from "../../../../src/translate/translate.ts";
import { createWorld } from "../../../../src/world.ts";

const object = (kind: string, name: string, createdAt: string, spec: object): KubeObject => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind,
  metadata: { name, namespace: "shop", creationTimestamp: createdAt },
  ...{ spec },
});

const listener = (hostname: string) => ({ name: "web", port: 80, protocol: "HTTP", hostname });
const older = "2026-01-01T00:00:00Z";
const newer = "2026-02-01T00:00:00Z";

describe("placement of Gateways without dedicated proxies", () => {
  it("a Gateway with an unsupported address serves nothing, and neither holds hosts nor attaches ListenerSets", () => {
    const { routing, gatewayStatuses } = translate(
      createWorld([
        object("GatewayClass", "svc", older, { controllerName: defaultTranslateSettings.controllerName }),
        object("Gateway", "refused", older, {
          gatewayClassName: "svc",
          addresses: [{ type: "example.com/pool", value: "a" }],
          allowedListeners: { namespaces: { from: "Same" } },
          listeners: [listener("a.example.com")],
        }),
        object("ListenerSet", "set", older, {
          parentRef: { name: "refused" },
          listeners: [listener("set.example.com")],
        }),
        object("Gateway", "served", newer, {
          gatewayClassName: "svc",
          listeners: [listener("a.example.com")],
        }),
        object("HTTPRoute", "everywhere", newer, {
          parentRefs: [{ name: "refused" }, { kind: "ListenerSet", name: "set" }, { name: "served" }],
        }),
      ]),
      defaultTranslateSettings,
    );
    expect(routing.hosts.map(({ host }) => host.host)).to.deep.equal(["a.example.com"]);
    expect(
      gatewayStatuses.gateways.map(({ object: { metadata }, conditions, attachedListenerSets }) => ({
        name: metadata.name,
        accepted: conditions.find(({ type }) => type === "Accepted")?.reason,
        attachedListenerSets,
      })),
    ).to.have.deep.members([
      { name: "refused", accepted: "UnsupportedAddress", attachedListenerSets: 0 },
      { name: "served", accepted: "Accepted", attachedListenerSets: 0 },
    ]);
  });
});
