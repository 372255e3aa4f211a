import { expect } from "chai";
import { accepted, problemsOf, warningsOf } from "./expect.ts";
import { ours } from "./manifests.ts";

/** A valid spec, further specs that must be accepted, by their subject, and invalid specs, by their problem. */
type Cases = {
  readonly full: object;
  readonly accepts: { readonly [what: string]: object };
  readonly refuses: { readonly [problem: string]: unknown };
};

const service = { name: "auth", port: 8080 };
const targetService = { group: "", kind: "Service", name: "web" };
const targetGateway = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" };

const cases: { readonly [kind: string]: Cases } = {
  RetryPolicy: {
    full: { attempts: 2, codes: [500, 503], backoff: "25ms", grpcCodes: [14] },
    accepts: {
      "no attempts": {},
      "an empty list of codes": { attempts: 1, codes: [] },
      "a duration that cannot be parsed, as it must fail open": { attempts: 1, backoff: "soon" },
      "codes out of range, as they must fail open": { attempts: -1, codes: [7], grpcCodes: [99] },
    },
    refuses: {
      'spec.attempts: must be an integer, found "2"': { attempts: "2" },
      "spec.attempts: must be an integer, found 1.5": { attempts: 1.5 },
      'spec.codes[1]: must be an integer, found "503"': { codes: [502, "503"] },
      "spec.backoff: must be a string, found 5": { backoff: 5 },
      "spec.attempts: must be from -2147483648 to 2147483647, found 3000000000": { attempts: 3e9 },
    },
  },
  IpAccessControl: {
    full: { deny: ["10.1.0.0/16"], allow: ["10.0.0.0/8", "2001:db8::1"] },
    accepts: { nothing: {}, "an entry that is no address, as it must be skipped": { deny: ["localhost"] } },
    refuses: {
      'spec.allow: must be a list, found "10.0.0.0/8"': { allow: "10.0.0.0/8" },
      "spec.deny: must have at most 4096 entries, found 4097": {
        deny: Array.from({ length: 4097 }, () => "10.0.0.1"),
      },
    },
  },
  RateLimit: {
    full: { requestsPerSecond: 2.5, burst: 10, byHeader: "X-Api-Key" },
    accepts: { "a rate of 0, as it must fail open": { requestsPerSecond: 0 } },
    refuses: {
      "spec.rates[0].period: is required": { rates: [{ requests: 1 }] },
      'spec.requestsPerSecond: must be a number, found "5"': { requestsPerSecond: "5" },
      "spec.burst: must be an integer, found 0.5": { requestsPerSecond: 1, burst: 0.5 },
      'spec.byHeader: must not be empty, found ""': { requestsPerSecond: 1, byHeader: "" },
    },
  },
  SvcExternalAuth: {
    full: {
      protocol: "GRPC",
      backendRef: { ...service, namespace: "security" },
      timeout: "500ms",
      failClosed: false,
      allowedHeaders: ["Cookie"],
      allowedResponseHeaders: ["X-User"],
      clientResponseHeaders: ["Set-Cookie", "X-Session"],
      forwardBody: { maxSize: 65535 },
      targetRefs: [targetGateway],
    },
    accepts: {
      "a target with the name only": {
        protocol: "HTTP",
        backendRef: service,
        targetRefs: [{ name: "edge" }],
      },
      "a duration that cannot be parsed, as the default applies": {
        protocol: "HTTP",
        backendRef: service,
        timeout: "?",
      },
    },
    refuses: {
      "spec.protocol: is required": { backendRef: service },
      'spec.protocol: must be one of HTTP, GRPC, found "http"': { protocol: "http", backendRef: service },
      "spec: one of backendRef and http.url is needed, and not both": { protocol: "HTTP" },
      "spec.backendRef.port: is required": { protocol: "HTTP", backendRef: { name: "auth" } },
      "spec.backendRef.port: must be from 1 to 65535, found 0": {
        protocol: "HTTP",
        backendRef: { name: "a", port: 0 },
      },
      "spec.forwardBody.maxSize: must be from 0 to 65535, found 65536": {
        protocol: "HTTP",
        backendRef: service,
        forwardBody: { maxSize: 65536 },
      },
      "spec.allowedHeaders: must have at most 32 entries, found 33": {
        protocol: "HTTP",
        backendRef: service,
        allowedHeaders: Array.from({ length: 33 }, (_, index) => `x-${index}`),
      },
      'spec.allowedResponseHeaders[0]: must match ^[A-Za-z0-9!#$%&\'*+\\-.^_`|~]+$, found "X User"': {
        protocol: "HTTP",
        backendRef: service,
        allowedResponseHeaders: ["X User"],
      },
      "spec.targetRefs: each Gateway may be named once": {
        protocol: "HTTP",
        backendRef: service,
        targetRefs: [targetGateway, { name: "edge" }],
      },
      'spec.targetRefs[0].kind: must be Gateway, found "Service"': {
        protocol: "HTTP",
        backendRef: service,
        targetRefs: [{ kind: "Service", name: "edge" }],
      },
    },
  },
  JwtAuth: {
    full: {
      issuer: "https://id.example.com/",
      audiences: ["shop"],
      jwks: { remote: { uri: "https://id.example.com/keys", refreshInterval: "10m" } },
      fromHeaders: [{ name: "X-Token", valuePrefix: "" }],
      claimToHeaders: [{ claim: "sub", header: "X-Subject" }],
      forwardPayloadHeader: "X-Claims",
      forward: true,
    },
    accepts: {
      "keys given inline": {
        issuer: "i",
        jwks: { inline: { jwks: { keys: [{ kty: "OKP", crv: "Ed25519", x: "AA" }] } } },
      },
      "no source of keys, which is answered 503": { issuer: "i" },
      "both sources of keys, which is answered 503": {
        issuer: "i",
        jwks: { remote: { uri: "https://a/" }, inline: { jwks: {} } },
      },
    },
    refuses: {
      "spec.issuer: is required": { jwks: { remote: { uri: "https://a/" } } },
      "spec.jwks.remote.uri: is required": { issuer: "i", jwks: { remote: {} } },
      'spec.jwks.inline.jwks: must be an object, found "{}"': {
        issuer: "i",
        jwks: { inline: { jwks: "{}" } },
      },
      "spec.claimToHeaders[0].header: is required": { issuer: "i", claimToHeaders: [{ claim: "sub" }] },
      "spec.forward: must be true or false, found 1": { issuer: "i", forward: 1 },
    },
  },
  Compression: {
    full: { gzip: true, brotli: true, level: 9, minSize: 0, types: ["text/css"] },
    accepts: { "a level out of range, which means 6": { gzip: true, level: 42 } },
    refuses: {
      'spec.gzip: must be true or false, found "yes"': { gzip: "yes" },
      'spec.types: must be a list, found "text/html"': { types: "text/html" },
    },
  },
  SvcBackendPolicy: {
    full: {
      targetRefs: [targetService],
      timeouts: { connect: "1s", idle: "1m" },
      loadBalancer: { algorithm: "hash:header=X-User" },
      circuitBreaker: {
        threshold: 50,
        window: "10s",
        openDuration: "5s",
        minRequests: 10,
        maxOpenDuration: "1m",
      },
      sessionPersistence: { type: "Cookie", sessionName: "sid" },
    },
    accepts: {
      "an unknown algorithm, as it must fail open": {
        targetRefs: [targetService],
        loadBalancer: { algorithm: "best" },
      },
      "a threshold out of range, as it must fail open": {
        targetRefs: [targetService],
        circuitBreaker: { threshold: 101 },
      },
      "an unknown persistence, as it must fail open": {
        targetRefs: [targetService],
        sessionPersistence: { type: "IP" },
      },
    },
    refuses: {
      "spec.targetRefs: is required": {},
      "spec.targetRefs: must have at least 1 entry, found 0": { targetRefs: [] },
      'spec.targetRefs[0].kind: must be Service, found "Pod"': { targetRefs: [{ kind: "Pod", name: "web" }] },
      'spec.targetRefs[0].group: must be "", found "apps"': { targetRefs: [{ group: "apps", name: "web" }] },
      "spec.targetRefs: each Service may be named once": { targetRefs: [targetService, targetService] },
      "spec.sessionPersistence.type: is required": { targetRefs: [targetService], sessionPersistence: {} },
      'spec.circuitBreaker.threshold: must be an integer, found "50%"': {
        targetRefs: [targetService],
        circuitBreaker: { threshold: "50%" },
      },
    },
  },
  SvcGatewayParameters: {
    full: {
      replicas: 2,
      resources: {
        requests: { cpu: "500m", memory: "256Mi" },
        limits: { cpu: 1 },
        claims: [{ name: "gpu" }],
      },
      image: "example/gateway:1",
      serviceType: "NodePort",
      podTemplate: {
        metadata: { labels: { team: "a" } },
        spec: { nodeSelector: { disk: "ssd" }, anything: [1, null] },
      },
      autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 60 },
    },
    accepts: {
      nothing: {},
      "a maximum below the minimum": { autoscaling: { minReplicas: 5, maxReplicas: 2 } },
    },
    refuses: {
      "spec.replicas: must be from 0 to 10000, found -1": { replicas: -1 },
      'spec.serviceType: must be one of LoadBalancer, NodePort, ClusterIP, found "ExternalName"': {
        serviceType: "ExternalName",
      },
      "spec.autoscaling.targetCPUUtilizationPercentage: must be from 1 to 100, found 101": {
        autoscaling: { targetCPUUtilizationPercentage: 101 },
      },
      "spec.resources.claims[1]: repeats entry 0 (same name)": {
        resources: { claims: [{ name: "a" }, { name: "a" }] },
      },
    },
  },
  BasicAuth: {
    full: { secretRef: { name: "users", namespace: "security" } },
    accepts: { "its own namespace": { secretRef: { name: "users" } } },
    refuses: {
      "spec.secretRef: is required": {},
      'spec.secretRef: must be an object, found "users"': { secretRef: "users" },
    },
  },
  RequestSizeLimit: {
    full: { maxSize: "10m" },
    accepts: {
      "a number above 32 bits": { maxSize: 5_368_709_120 },
      "a bad size, as it must fail open": { maxSize: "huge" },
    },
    refuses: {
      "spec.maxSize: is required": {},
      "spec.maxSize: must be an integer, found 1.5": { maxSize: 1.5 },
      "spec.maxSize: must be an integer or a string, found true": { maxSize: true },
    },
  },
  PathRewriteRegex: {
    full: { pattern: "^/v[0-9]+/(.*)$", replacement: "/$1" },
    accepts: { "a pattern that does not compile, as it must fail open": { pattern: "(", replacement: "" } },
    refuses: {
      "spec.replacement: is required": { pattern: "/a" },
      "spec.pattern: is required": { replacement: "" },
    },
  },
  RouteOptions: {
    full: { annotations: { a: "b" } },
    accepts: {},
    refuses: { "spec.annotations: is required": {} },
  },
  ClientTrafficPolicy: {
    full: {
      targetRefs: [{ ...targetGateway, sectionName: "https" }, targetGateway],
      proxyProtocol: { enabled: true, trustedSources: ["10.0.0.0/8"] },
    },
    accepts: { "no trusted source": { targetRefs: [{ name: "edge" }], proxyProtocol: { enabled: true } } },
    refuses: {
      "spec.targetRefs: is required": { proxyProtocol: { enabled: true } },
      "spec.targetRefs: each Gateway or listener may be named once": {
        targetRefs: [
          { name: "edge", sectionName: "a" },
          { name: "edge", sectionName: "a" },
        ],
      },
    },
  },
  SvcIngressClassParameters: {
    full: { defaultAnnotations: { "ingress.svc-labs.dev/max-body-size": "10m" }, accessLog: false },
    accepts: {
      "a bad value, as it must fail open": {
        defaultAnnotations: { "ingress.svc-labs.dev/max-body-size": "?" },
      },
    },
    refuses: {
      'spec.defaultAnnotations["ingress.svc-labs.dev/ssl-redirect"]: must be a string, found true': {
        defaultAnnotations: { "ingress.svc-labs.dev/ssl-redirect": true },
      },
    },
  },
};

describe("the gateway's own kinds", () => {
  for (const [kind, { full, accepts, refuses }] of Object.entries(cases)) {
    describe(kind, () => {
      it(`every field of a full ${kind} is kept`, () => {
        expect(warningsOf(ours(kind, full))).to.deep.equal([]);
        expect((accepted(ours(kind, full)) as { spec?: unknown }).spec).to.deep.include(full);
      });
      for (const [what, spec] of Object.entries(accepts)) {
        it(`${kind}: accepts ${what}`, () => {
          expect(warningsOf(ours(kind, spec))).to.deep.equal([]);
        });
      }
      for (const [problem, spec] of Object.entries(refuses)) {
        it(`${kind}: rejects ${problem}`, () => {
          expect(problemsOf(ours(kind, spec))).to.deep.equal([problem]);
        });
      }
      it(`a ${kind} without spec is invalid`, () => {
        expect(problemsOf(ours(kind, undefined))).to.deep.equal(["spec: is required"]);
      });
      it(`an unknown field of a ${kind} is dropped with a warning`, () => {
        expect(warningsOf(ours(kind, { ...full, unknownField: 1 }))).to.deep.equal([
          "spec.unknownField: unknown field",
        ]);
        expect(accepted(ours(kind, { ...full, unknownField: 1 }))).to.deep.equal(accepted(ours(kind, full)));
      });
    });
  }

  it("the project's own kinds have their documented defaults", () => {
    const specOf = (kind: string, spec: object): unknown =>
      (accepted(ours(kind, spec)) as { spec?: unknown }).spec;
    expect(specOf("RetryPolicy", {})).to.deep.equal({ codes: [502, 503, 504] });
    expect(specOf("RateLimit", { requestsPerSecond: 1 })).to.deep.equal({
      requestsPerSecond: 1,
      burst: 0,
      scope: "Route",
    });
    expect(
      specOf("SvcExternalAuth", { protocol: "HTTP", backendRef: service, forwardBody: {} }),
    ).to.deep.equal({
      protocol: "HTTP",
      backendRef: service,
      forwardBody: { maxSize: 0 },
      timeout: "2s",
      failClosed: true,
      clientResponseHeaders: ["Set-Cookie"],
    });
    expect(specOf("JwtAuth", { issuer: "i", jwks: { remote: { uri: "https://a/" } } })).to.deep.equal({
      issuer: "i",
      jwks: { remote: { uri: "https://a/", refreshInterval: "5m" } },
      fromHeaders: [{ name: "Authorization", valuePrefix: "Bearer " }],
      forward: false,
    });
    expect(specOf("Compression", {})).to.deep.equal({
      gzip: false,
      brotli: false,
      level: 6,
      minSize: 1024,
      types: ["text/html", "text/plain", "text/css", "application/json", "application/javascript"],
    });
    expect(
      specOf("SvcBackendPolicy", { targetRefs: [{ name: "w" }], loadBalancer: {}, circuitBreaker: {} }),
    ).to.deep.equal({
      targetRefs: [{ group: "", kind: "Service", name: "w" }],
      loadBalancer: { algorithm: "round_robin" },
      circuitBreaker: { window: "10s", openDuration: "5s", minRequests: 10 },
    });
    expect(specOf("SvcGatewayParameters", { autoscaling: {} })).to.deep.equal({
      autoscaling: { enabled: false, minReplicas: 1, maxReplicas: 10, targetCPUUtilizationPercentage: 80 },
    });
    expect(specOf("ClientTrafficPolicy", { targetRefs: [{ name: "g" }], proxyProtocol: {} })).to.deep.equal({
      targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "g" }],
      proxyProtocol: { enabled: false },
    });
  });

  it("null in a spec counts as absent", () => {
    expect(accepted(ours("RetryPolicy", { attempts: null, codes: null }))).to.deep.equal(
      accepted(ours("RetryPolicy", {})),
    );
    expect(problemsOf(ours("BasicAuth", { secretRef: null }))).to.deep.equal(["spec.secretRef: is required"]);
  });

  it("kinds that attach to other objects have a status with ancestors", () => {
    const condition = {
      type: "Accepted",
      status: "True",
      reason: "Accepted",
      message: "",
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const entry = {
      ancestorRef: { group: "", kind: "Service", name: "web" },
      controllerName: "a/b",
      conditions: [condition],
    };
    for (const kind of ["SvcBackendPolicy", "ClientTrafficPolicy", "SvcExternalAuth"]) {
      const status = { ancestors: [entry] };
      expect(warningsOf({ ...ours(kind, cases[kind]?.full), status })).to.deep.equal([]);
      expect(
        problemsOf({
          ...ours(kind, cases[kind]?.full),
          status: { ancestors: [{ ...entry, conditions: [condition, condition] }] },
        }),
      ).to.deep.equal(["status.ancestors[0].conditions[1]: repeats entry 0 (same type)"]);
    }
  });
});
