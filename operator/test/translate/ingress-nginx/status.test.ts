import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultTranslateSettings, type IngressNginxSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld } from "../../../src/world.ts";

const ingress = (name: string, ingressClassName?: string): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "shop" },
    spec: {
      ...(ingressClassName !== undefined && { ingressClassName }),
      rules: [{ host: `${name}.example.com` }],
    },
  }) as KubeObject;

const ingressClass = (name: string, controller: string): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name },
    spec: { controller },
  }) as KubeObject;

const world = createWorld([
  ingressClass("nginx", "k8s.io/ingress-nginx"),
  ingressClass("ours", defaultTranslateSettings.controllerName),
  ingress("adopted", "nginx"),
  ingress("named", "ours"),
  ingress("without-object", "internal"),
  ingress("without-class"),
]);

function withStatus(options: Partial<IngressNginxSettings>): readonly string[] {
  const ingressNginx = {
    ...defaultTranslateSettings.ingressNginx,
    classes: ["nginx", "ours", "internal"],
    watchWithoutClass: true,
    ...options,
  };
  const { ingresses, statusIngresses, routing } = translate(world, {
    ...defaultTranslateSettings,
    ingressNginx,
  });
  expect(routing.hosts).to.have.length(4);
  expect(ingresses).to.have.length(4);
  return statusIngresses.map(({ metadata }) => metadata.name);
}

describe("the status of Ingresses of ingress-nginx", () => {
  it("the status of an Ingress is left to its controller unless the class is of this one", () => {
    expect(withStatus({})).to.deep.equal(["named"]);
  });

  it("the status of every Ingress that is served is written when the operator says so", () => {
    expect(withStatus({ updateStatus: true })).to.deep.equal([
      "adopted",
      "named",
      "without-class",
      "without-object",
    ]);
  });
});
