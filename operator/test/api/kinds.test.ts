import { expect } from "chai";
import {
  apiVersionOf,
  definitionOf,
  kindNames,
  kindOf,
  kindOfGroup,
  type KindName,
} from "../../src/api/kinds.ts";
import { accepted } from "./expect.ts";
import { gatewayKind, manifest } from "./manifests.ts";

const coreKinds: { readonly [K in KindName]?: string } = {
  ClusterTrustBundle: "certificates.k8s.io/v1",
  ConfigMap: "v1",
  EndpointSlice: "discovery.k8s.io/v1",
  Ingress: "networking.k8s.io/v1",
  IngressClass: "networking.k8s.io/v1",
  Namespace: "v1",
  Secret: "v1",
  Service: "v1",
};

const gatewayKinds: readonly KindName[] = [
  "BackendTLSPolicy",
  "GRPCRoute",
  "Gateway",
  "GatewayClass",
  "HTTPRoute",
  "ListenerSet",
  "ReferenceGrant",
  "TCPRoute",
  "TLSRoute",
  "UDPRoute",
];

describe("kinds", () => {
  it("the core kinds have their versions", () => {
    for (const [kind, apiVersion] of Object.entries(coreKinds))
      expect(apiVersionOf(kind as KindName)).to.equal(apiVersion);
  });

  it("v1 is preferred for every Gateway API kind", () => {
    for (const kind of gatewayKinds) expect(apiVersionOf(kind)).to.equal("gateway.networking.k8s.io/v1");
  });

  it("a kind is found under each version that it is served in", () => {
    for (const kind of kindNames) {
      const { group, versions } = definitionOf(kind);
      for (const version of versions) {
        expect(kindOf(group === "" ? version : `${group}/${version}`, kind)).to.equal(kind);
      }
    }
    expect(kindOf("gateway.networking.k8s.io/v1beta1", "ReferenceGrant")).to.equal("ReferenceGrant");
  });

  it("no kind is found under another group or version, or under a name of Object.prototype", () => {
    expect(kindOf("networking.k8s.io/v1beta1", "Ingress")).to.equal(undefined);
    expect(kindOf("v1", "Ingress")).to.equal(undefined);
    expect(kindOf("v1", "constructor")).to.equal(undefined);
    expect(kindOfGroup("extensions", "Ingress")).to.equal(undefined);
    expect(kindOfGroup("networking.k8s.io", "Ingress")).to.equal("Ingress");
  });

  it("the cluster-scoped kinds are known", () => {
    expect(kindNames.filter((kind) => !definitionOf(kind).namespaced)).to.deep.equal([
      "ClusterTrustBundle",
      "GatewayClass",
      "IngressClass",
      "Namespace",
    ]);
  });

  it("a validated object keeps the version that it was written in", () => {
    const spec = {
      from: [{ group: "", kind: "Service", namespace: "a" }],
      to: [{ group: "", kind: "Secret" }],
    };
    expect(accepted(gatewayKind("ReferenceGrant", spec, "v1beta1")).apiVersion).to.equal(
      "gateway.networking.k8s.io/v1beta1",
    );
    expect(accepted(manifest("v1", "ConfigMap", { data: {} })).apiVersion).to.equal("v1");
  });
});
