import { readFileSync } from "node:fs";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../../src/api/object.ts";
import { validateObject } from "../../../../src/api/validate.ts";
import { defaultTranslateSettings } from "../../../../src/translate/settings.ts";
import { translate } from "../../../../src/translate/translate.ts";
import { createWorld } from "../../../../src/world.ts";

const gatewayClass = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "GatewayClass",
  metadata: { name: "svc" },
  spec: { controllerName: defaultTranslateSettings.controllerName },
};

const http = { name: "http", port: 80, protocol: "HTTP" };

const gateway = (metadata: object, listeners: readonly object[] = [http], from = "Same") => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop", ...metadata },
  spec: { gatewayClassName: "svc", listeners, allowedListeners: { namespaces: { from } } },
});

const listenerSet = (metadata: object) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "ListenerSet",
  metadata: { name: "more", namespace: "shop", ...metadata },
  spec: {
    parentRef: { name: "edge" },
    listeners: [{ name: "more", port: 80, protocol: "HTTP", hostname: "more.example" }],
  },
});

/** A Secret in the namespace `shop` with a certificate and its key. */
const certificate = (() => {
  const file = new URL("../../testdata/gateway-with-tls-routes.in.yaml", import.meta.url);
  const secret = parseAllDocuments(readFileSync(file, "utf8"))
    .map((document) => document.toJS() as KubeObject)
    .find(({ kind }) => kind === "Secret");
  const validated = validateObject(secret);
  return validated.ok ? validated.value.object : expect.fail("not a valid Secret");
})();

/** The listener resource of the Gateway, with the hash of the one in its status. */
function boundOf(...objects: readonly object[]) {
  const world = createWorld([gatewayClass, ...objects] as unknown as KubeObject[]);
  const { scopes, gatewayStatuses } = translate(world, defaultTranslateSettings);
  const resource =
    scopes.shared.find(({ key }) => key === "listener|shop/edge") ?? expect.fail("no listener resource");
  expect(gatewayStatuses.gateways[0]?.bound).to.deep.equal(resource);
  const decoded = decodeResource(resource);
  if (!decoded.ok || decoded.value?.type !== "listener") return expect.fail("not a listener resource");
  return { hash: resource.hash, ...decoded.value.value };
}

describe("the listener resource of a Gateway", () => {
  const first = boundOf(gateway({ uid: "a", generation: 1 }));

  it("the resource has another hash in each generation, with the same listeners", () => {
    const next = boundOf(gateway({ uid: "a", generation: 2 }));
    expect(next.listeners).to.deep.equal(first.listeners);
    expect(next.hash).not.to.equal(first.hash);
    expect(boundOf(gateway({ uid: "a", generation: 1, labels: { any: "thing" } }))).to.deep.equal(first);
  });

  it("the resource of a Gateway that was created again has another hash, although its generation is the same", () => {
    expect(boundOf(gateway({ uid: "b", generation: 1 })).hash).not.to.equal(first.hash);
  });

  it("the resource of a Gateway from a file has no generations", () => {
    expect(boundOf(gateway({}))).not.to.have.property("generations");
  });

  it("the resource has another hash in each generation of an accepted ListenerSet, and ignores refused ones", () => {
    const at = (generation: number, from: string): string =>
      boundOf(gateway({ uid: "a", generation: 1 }, [http], from), listenerSet({ uid: "c", generation })).hash;
    expect(new Set([first.hash, at(1, "Same"), at(2, "Same")]).size).to.equal(3);
    expect([at(1, "None"), at(2, "None")]).to.deep.equal([first.hash, first.hash]);
  });

  it("the resource has another hash when a Secret of a listener appears, although the generation is the same", () => {
    const https = { port: 443, protocol: "HTTPS" };
    const secure = (name: string, hostname: string, secret: string): object => ({
      ...https,
      name,
      hostname,
      tls: { certificateRefs: [{ name: secret }] },
    });
    const edge = gateway({ uid: "a", generation: 1 }, [
      secure("a", "a.example", "a"),
      secure("b", "b.example", "b"),
    ]);
    const secret = (name: string): object => ({
      ...certificate,
      metadata: { ...certificate.metadata, name },
    });
    const before = boundOf(edge, secret("a"));
    const after = boundOf(edge, secret("a"), secret("b"));
    expect(after.listeners).to.deep.equal(before.listeners);
    expect(after.hash).not.to.equal(before.hash);
  });
});
