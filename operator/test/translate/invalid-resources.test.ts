import { expect } from "chai";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namedKinds, standInKinds, type StandInKind } from "../../src/api/stand-in.ts";
import { loadFolder } from "../../src/sources/files/file-source.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";

/** An invalid field for each kind, with the problem that is reported about it. */
const invalid: { readonly [K in Exclude<StandInKind, "BackendTLSPolicy">]: readonly [string, string] } = {
  BasicAuth: ["secretRef: 2", "spec.secretRef: must be an object, found 2"],
  ClientTrafficPolicy: ["targetRefs: 5", "spec.targetRefs: must be a list, found 5"],
  Compression: ["level: high", 'spec.level: must be an integer, found "high"'],
  IpAccessControl: ["allow: 3", "spec.allow: must be a list, found 3"],
  JwtAuth: ["issuer: 1", "spec.issuer: must be a string, found 1"],
  PathRewriteRegex: ["pattern: 3, replacement: a", "spec.pattern: must be a string, found 3"],
  RateLimit: ["requestsPerSecond: many", 'spec.requestsPerSecond: must be a number, found "many"'],
  RequestSizeLimit: ["maxSize: [1]", "spec.maxSize: must be an integer or a string, found a list"],
  RetryPolicy: ["attempts: lots", 'spec.attempts: must be an integer, found "lots"'],
  RouteOptions: ["annotations: 4", "spec.annotations: must be an object, found 4"],
  SvcBackendPolicy: ["targetRefs: 5", "spec.targetRefs: must be a list, found 5"],
  SvcExternalAuth: ["targetRefs: 5", "spec.targetRefs: must be a list, found 5"],
  SvcGatewayParameters: ["replicas: no", "spec.replicas: must be an integer, found false"],
  SvcIngressClassParameters: [
    "accessLog: 7, defaultAnnotations: 4",
    "spec.accessLog: must be true or false, found 7",
  ],
};

/** The settings of a controller in a cluster, which runs dedicated proxies. */
const settings: TranslateSettings = {
  ...defaultTranslateSettings,
  gatewayVips: { namespace: "svc-system", selector: { app: "proxy" }, serviceType: "LoadBalancer" },
  dedicated: {
    image: "svc-gateway:1.0.0",
    discoveryEndpoint: "discovery.svc-system.svc:50051",
    bootstrapEndpoint: "discovery.svc-system.svc:50052",
    trustDomain: "cluster.local",
    podTemplate: {},
  },
};

const policy = (kind: keyof typeof invalid, spec: string): string => `
apiVersion: ${kind === "SvcIngressClassParameters" ? "ingress" : "gateway"}.svc-labs.dev/v1alpha1
kind: ${kind}
metadata: { name: p, namespace: default }
spec: { ${spec} }
`;

const base = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: svc }
spec: { controllerName: svc-labs.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gw, namespace: default }
spec:
  gatewayClassName: svc
  infrastructure: { parametersRef: { group: gateway.svc-labs.dev, kind: SvcGatewayParameters, name: p } }
  listeners: [{ name: http, port: 80, protocol: HTTP }]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: { name: svc }
spec:
  controller: svc-labs.dev/gateway-controller
  parameters:
    { apiGroup: ingress.svc-labs.dev, kind: SvcIngressClassParameters, name: p, scope: Namespace, namespace: default }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { ports: [{ port: 80 }] }
`;

const routeWith = (kind: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: route, namespace: default }
spec:
  parentRefs: [{ name: gw }]
  rules:
    - filters: [{ type: ExtensionRef, extensionRef: { group: gateway.svc-labs.dev, kind: ${kind}, name: p } }]
      backendRefs: [{ name: web, port: 80 }]
`;

const ingressWith = (annotation: string): string => `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: web, namespace: default, annotations: { ingress.svc-labs.dev/${annotation}: default/p } }
spec:
  ingressClassName: svc
  defaultBackend: { service: { name: web, port: { number: 80 } } }
`;

describe("objects that exist but are invalid", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "invalid-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Translates manifests, and returns the findings about objects of one kind as `reason: message`. */
  const saidAbout = async (kind: string, ...manifests: readonly string[]): Promise<readonly string[]> => {
    await writeFile(join(folder, "all.yaml"), [base, ...manifests].join("---\n"));
    const loaded = await loadFolder(folder);
    if (!loaded.ok) throw new Error(loaded.error.message);
    const { diagnostics } = translate(loaded.value.world, settings);
    return diagnostics
      .filter(({ object }) => object.kind === kind)
      .map(({ reason, message }) => `${reason}: ${message}`);
  };

  const asFilters = [
    ["RateLimit", "InvalidKind", "every request of the rule is answered 500"],
    ["RequestSizeLimit", "InvalidKind", "every request of the rule is answered 500"],
    ["RetryPolicy", "InvalidKind", "every request of the rule is answered 500"],
    ["Compression", "InvalidKind", "every request of the rule is answered 500"],
    ["PathRewriteRegex", "InvalidKind", "every request of the rule is answered 500"],
    ["JwtAuth", "ProtectionUnavailable", "every request is answered 503"],
    ["BasicAuth", "ProtectionUnavailable", "every request is answered 503"],
    ["IpAccessControl", "ProtectionUnavailable", "every request is answered 503"],
    ["SvcExternalAuth", "ProtectionUnavailable", "every request is answered 503"],
    ["RouteOptions", "ProtectionUnavailable", "every request is answered 503"],
  ] as const;

  for (const [kind, reason, effect] of asFilters) {
    it(`the finding of a route says what is wrong with a ${kind} that its filter names`, async () => {
      const [spec, problem] = invalid[kind];
      expect(await saidAbout("HTTPRoute", policy(kind, spec), routeWith(kind))).to.include(
        `${reason}: ${kind} default/p is not valid: ${problem}; ${effect}`,
      );
    });
  }

  const asAnnotations = [
    ["RateLimit", "rate-limit", "UnusableResource", "the rate of requests is not limited"],
    ["RetryPolicy", "retry", "UnusableResource", "failed requests are not retried"],
    ["Compression", "compression", "UnusableResource", "responses are not compressed"],
    ["JwtAuth", "auth-jwt", "ProtectionUnavailable", "every request is answered 503"],
    ["IpAccessControl", "ip-access-control", "ProtectionUnavailable", "every request is answered 503"],
    ["SvcExternalAuth", "ext-auth", "ProtectionUnavailable", "every request is answered 503"],
  ] as const;

  for (const [kind, annotation, reason, effect] of asAnnotations) {
    it(`the finding of an Ingress says what is wrong with a ${kind} that its annotation names`, async () => {
      const [spec, problem] = invalid[kind];
      expect(await saidAbout("Ingress", policy(kind, spec), ingressWith(annotation))).to.include(
        `${reason}: ${kind} default/p is not valid: ${problem}; ${effect}`,
      );
    });
  }

  it("the finding of a Gateway says what is wrong with its SvcGatewayParameters", async () => {
    const [spec, problem] = invalid.SvcGatewayParameters;
    expect(await saidAbout("Gateway", policy("SvcGatewayParameters", spec))).to.deep.equal([
      `InvalidParameters: spec.infrastructure.parametersRef: SvcGatewayParameters default/p is not valid: ${problem}`,
    ]);
  });

  it("the finding of an IngressClass says what is wrong with its SvcIngressClassParameters", async () => {
    const [spec, problem] = invalid.SvcIngressClassParameters;
    expect(await saidAbout("IngressClass", policy("SvcIngressClassParameters", spec))).to.deep.equal([
      `ProtectionUnavailable: The defaults in SvcIngressClassParameters default/p cannot be read: ${problem}; every request to an Ingress of the class is answered 503`,
    ]);
  });

  it("the finding of a route whose rate limit does not exist says so, and not that it is invalid", async () => {
    expect(await saidAbout("HTTPRoute", routeWith("RateLimit"))).to.include(
      "InvalidKind: RateLimit default/p does not exist; every request of the rule is answered 500",
    );
  });

  it("every kind with stand-ins has a case here", () => {
    expect(Object.keys(invalid)).to.have.members(standInKinds.filter((kind) => kind !== "BackendTLSPolicy"));
    const covered = new Set<string>([...asFilters, ...asAnnotations].map(([kind]) => kind));
    expect(namedKinds.filter((kind) => !covered.has(kind))).to.deep.equal(["SvcGatewayParameters"]);
  });
});
