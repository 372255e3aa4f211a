/** Tests that no valid setting of a route replaces one that closes it, because the object or annotation is invalid. */
import { expect } from "chai";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { createStandIn, type AttachingKind } from "../../src/api/stand-in.ts";
import { validateObject } from "../../src/api/validate.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld } from "../../src/world.ts";

const manifest = (apiVersion: string, kind: string, name: string, spec: object, more = {}): KubeObject => {
  const read = validateObject({ apiVersion, kind, metadata: { name, ...more }, spec });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value.object;
};
const invalid = (kind: AttachingKind, name: string): KubeObject =>
  createStandIn({
    ...{ kind, namespace: "default", name, creationTimestamp: undefined, targets: [] },
    problems: ["spec: must be an object, found 5"],
  });

const prefixed = (annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [`ingress.svc-labs.dev/${key}`, value]),
  );
const own = "gateway.svc-labs.dev/v1alpha1";
const options = (name: string, annotations: Readonly<Record<string, string>>): KubeObject =>
  manifest(own, "RouteOptions", name, { annotations: prefixed(annotations) });

const api = "gateway.networking.k8s.io/v1";
const objects: readonly KubeObject[] = [
  manifest(api, "GatewayClass", "svc", { controllerName: "svc-labs.dev/gateway-controller" }),
  manifest(api, "Gateway", "gw", {
    gatewayClassName: "svc",
    listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
  }),
  manifest("networking.k8s.io/v1", "IngressClass", "svc", { controller: "svc-labs.dev/gateway-controller" }),
  manifest("v1", "Service", "web", { ports: [{ port: 80 }] }),
  manifest(own, "IpAccessControl", "all", { allow: ["0.0.0.0/0", "::/0"] }),
  manifest(own, "JwtAuth", "good", {
    issuer: "https://id.example",
    jwks: { remote: { uri: "https://id.example/keys" } },
  }),
  manifest(own, "SvcExternalAuth", "good", { protocol: "HTTP", backendRef: { name: "web", port: 80 } }),
  invalid("IpAccessControl", "bad"),
  invalid("JwtAuth", "bad"),
  invalid("BasicAuth", "bad"),
  invalid("SvcExternalAuth", "bad"),
  options("all-addresses", { "ip-access-control": "default/all" }),
  options("unknown-addresses", { "ip-access-control": "default/bad" }),
  options("unknown-paths", { "closed-paths": "~ (" }),
  options("one-path", { "closed-paths": "/q" }),
  options("other-path", { "closed-paths": "/r" }),
  options("any", { satisfy: "any", "ip-access-control": "default/all" }),
  options("any-without-jwt", { satisfy: "any", "auth-jwt": "default/none" }),
  options("any-with-bad-jwt", { satisfy: "any", "auth-jwt": "default/bad" }),
];

type Named = readonly [kind: string, name: string];

/** The features of a route of the world with one more object. */
function featuresWith(object: KubeObject): RouteFeatures {
  const { routing } = translate(createWorld([...objects, object]), defaultTranslateSettings);
  const [route] = routing.hosts.flatMap(({ value }) => value.routes);
  if (route === undefined) throw new Error("nothing is served");
  return route.features ?? {};
}

const featuresOfRule = (...filters: readonly Named[]): RouteFeatures =>
  featuresWith(
    manifest(api, "HTTPRoute", "web", {
      parentRefs: [{ name: "gw" }],
      rules: [
        {
          filters: filters.map(([kind, name]) => ({
            type: "ExtensionRef",
            extensionRef: { group: "gateway.svc-labs.dev", kind, name },
          })),
          backendRefs: [{ name: "web", port: 80 }],
        },
      ],
    }),
  );

const featuresOfIngress = (annotations: Readonly<Record<string, string>>): RouteFeatures =>
  featuresWith(
    manifest(
      "networking.k8s.io/v1",
      "Ingress",
      "web",
      { ingressClassName: "svc", defaultBackend: { service: { name: "web", port: { number: 80 } } } },
      { annotations: prefixed(annotations) },
    ),
  );

const ofOptions = (name: string): Named => ["RouteOptions", name];

describe("translate: settings that close a route because they are invalid", () => {
  for (const bad of [["IpAccessControl", "bad"] as const, ofOptions("unknown-addresses")]) {
    it(`${bad.join(" ")}: an invalid IpAccessControl closes a rule before and after a valid one`, () => {
      const good = ofOptions("all-addresses");
      for (const filters of [
        [bad, good],
        [good, bad],
        [good, bad, good],
      ]) {
        const { "ip-access-control": addresses } = featuresOfRule(...filters);
        expect(addresses).to.deep.equal({ unavailable: true, deny: [] });
      }
    });
  }

  it("closed-paths: an invalid value of RouteOptions closes a rule before and after a valid one", () => {
    const [bad, good] = [ofOptions("unknown-paths"), ofOptions("one-path")];
    for (const filters of [
      [bad, good],
      [good, bad],
    ]) {
      expect(featuresOfRule(...filters)["closed-paths"]).to.deep.equal({
        paths: [{ type: "beginning", value: "/" }],
        statusCode: 403,
      });
    }
  });

  it("closed-paths: the later of two valid values of RouteOptions is used", () => {
    const { "closed-paths": closed } = featuresOfRule(ofOptions("one-path"), ofOptions("other-path"));
    expect(closed?.paths).to.deep.equal([{ type: "beginning", value: "/r" }]);
  });

  const required = { required: true };

  for (const [kind, other] of [
    ["JwtAuth", ["SvcExternalAuth", "good"]],
    ["BasicAuth", ["JwtAuth", "good"]],
    ["SvcExternalAuth", ["JwtAuth", "good"]],
  ] as const) {
    it(`satisfy: any: an invalid ${kind} of a rule is required although another check is enough`, () => {
      for (const filters of [
        [ofOptions("any"), [kind, "bad"], other],
        [other, [kind, "bad"], ofOptions("any")],
      ] as const) {
        const features = featuresOfRule(...filters);
        expect(features.satisfy).to.equal("any");
        expect(features["ext-auth"]).to.deep.include(required);
      }
    });
  }

  it("satisfy: any: an invalid JwtAuth of RouteOptions is required although another check is enough", () => {
    expect(featuresOfRule(ofOptions("any-with-bad-jwt"))["ext-auth"]).to.deep.equal([required]);
  });

  for (const annotation of ["auth-jwt", "ext-auth"] as const) {
    it(`satisfy: any: an invalid object of ${annotation} is required on an Ingress, and a missing one is not`, () => {
      const any = { satisfy: "any", "ip-access-control": "default/all" };
      expect(featuresOfIngress({ ...any, [annotation]: "default/bad" })["ext-auth"]).to.deep.equal([
        required,
      ]);
      const missing = featuresOfIngress({ ...any, [annotation]: "default/none" });
      expect(missing[annotation]).to.deep.equal([{}]);
      expect(missing["ext-auth"] ?? []).not.to.deep.include(required);
    });
  }

  it("satisfy: any: a missing JwtAuth of RouteOptions is a check that cannot be performed", () => {
    const features = featuresOfRule(ofOptions("any-without-jwt"));
    expect(features["auth-jwt"]).to.deep.equal([{}]);
    expect(features).not.to.have.property("ext-auth");
  });
});
