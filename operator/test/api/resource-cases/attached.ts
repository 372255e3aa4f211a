import type { KindName } from "../../../src/api/kinds.ts";
import {
  badDurations,
  badRanges,
  closed,
  duration,
  equalTo,
  ignoredFor,
  optional,
  range,
  refused,
  required,
  taken,
  targets,
  tooMany,
  type ResourceCases,
} from "./case.ts";

const seconds = [...taken(0, 1, 2_147_483_647), ...refused(-1, 1.5, "1", 2_147_483_648), ...optional];
/** A switch that is off by default. */
const switchedOff = [...taken(true), ...equalTo(false, undefined, null), ...refused("true", 1, [])];

const size = "ingress.svc-labs.dev/max-body-size";

/** TLS to backends whose certificates are verified. */
const verified = { hostname: "web.internal", wellKnownCACertificates: "System" };

/** How requests are traced. */
const tracing = {
  tracing: [...taken({ enabled: false }), ...equalTo(undefined, null, {}), ...refused([], "on", true)],
  "tracing.enabled": [...taken(false), ...equalTo(undefined, true, null), ...refused("no", 0, {})],
  "tracing.ratio": [...taken(0, 1, 0.001), ...refused(-0.1, 1.1, "0.5", []), ...optional],
};

/** Fields of access-log lines. */
const logFields = [
  ...taken(["host", "status"], ["-mirror"], ["+user_agent", "-host"]),
  ...equalTo(undefined, [], null),
  ...ignoredFor(undefined, ["nonsense"], ["host", "+status"], [""], ["+"], ["+request_id", "cookie"]),
  ...refused(
    "host",
    [1],
    ["x".repeat(65)],
    Array.from({ length: 65 }, () => "host"),
  ),
];

const hashed = [
  { from: "Header", name: "X-Tenant" },
  { from: "Text", value: "-" },
  { from: "Cookie", name: "Sid" },
];

/** The cases of kinds that are attached to a Service, a Gateway or a class. */
export const attachedCases: { readonly [kind in KindName]?: ResourceCases } = {
  SvcBackendPolicy: {
    full: {
      targetRefs: [{ name: "web" }],
      timeouts: { connect: "1s", idle: "1m" },
      loadBalancer: { hash: { parts: hashed, subset: 3 } },
      circuitBreaker: {
        threshold: 50,
        window: "20s",
        openDuration: "6s",
        minRequests: 7,
        maxOpenDuration: "1m",
      },
      sessionPersistence: {
        type: "Cookie",
        sessionName: "sid",
        cookie: {
          path: "/shop",
          domain: "example.com",
          maxAgeSeconds: 3600,
          expiresSeconds: 3600,
          sameSite: "None",
          alwaysSecure: true,
          partitioned: true,
          omitNoneIfMisread: true,
          changeOnFailure: true,
        },
      },
      ports: [
        {
          port: 80,
          protocol: "HTTP2",
          tls: { hostname: "web.internal", wellKnownCACertificates: "System", maxIntermediates: 1 },
        },
      ],
    },
    fields: {
      targetRefs: [...targets("Service"), ...refused([]), ...required],
      "timeouts.connect": duration,
      "timeouts.idle": duration,
      "loadBalancer.algorithm": [
        ...equalTo("round_robin", undefined, null),
        ...ignoredFor("round_robin", "least_conn", "hash:uri", "best"),
        ...refused(1, [], "x".repeat(1025)),
      ],
      "loadBalancer.hash": [...refused({}, [], "Host"), ...optional],
      "loadBalancer.hash.subset": [...taken(1, 1000), ...refused(0, 1001, 1.5, "3"), ...optional],
      "loadBalancer.hash.parts": [
        ...["ClientAddress", "Host", "Scheme", "Method", "URI", "Path", "Query"].flatMap((from) =>
          taken([{ from }]),
        ),
        ...taken([{ from: "Text", value: "x".repeat(256) }], tooMany(16, { from: "Host" })),
        ...taken([{ from: "QueryParameter", name: "user[id]" }], [{ from: "Cookie", name: "other" }]),
        ...refused(
          [{ from: "Header" }],
          [{ from: "Host", name: "X" }],
          [{ from: "Text" }],
          [{ from: "host" }],
        ),
        ...refused([{ from: "URI", value: "x" }], [{ from: "Text", value: "" }], [{ name: "X" }], ["Host"]),
        ...refused([], "Host", tooMany(17, { from: "Host" }), [{ from: "Text", value: "x".repeat(257) }]),
        ...required,
      ],
      loadBalancer: [
        ...["least_conn", "ewma", "hash:uri", "hash:header=A", "hash:cookie=a"].flatMap((algorithm) =>
          taken({ algorithm }),
        ),
        ...["ip_hash", " ip_hash "].flatMap((algorithm) =>
          equalTo({ algorithm: "hash:source-ip" }, { algorithm }),
        ),
        ...equalTo({ algorithm: "round_robin" }, {}),
        ...[
          { from: "Header", name: "X Y" },
          { from: "Cookie", name: "a;b" },
          { from: "QueryParameter", name: "a&b" },
          { from: "Text", value: "\u0000" },
          { from: "Text", value: "\u00e4" },
        ].flatMap((part) => ignoredFor(undefined, { hash: { parts: [{ from: "Host" }, part] } })),
        ...["best", "", "ROUND_ROBIN", "hash", "hash:", "hash:query", "\u0000", "x".repeat(1024)].flatMap(
          (algorithm) => ignoredFor(undefined, { algorithm }),
        ),
        ...["hash:header=", "hash:header=X Y", "hash:cookie=a;b", "hash:cookie=\r\n", "hash:cookie="].flatMap(
          (algorithm) => ignoredFor(undefined, { algorithm }),
        ),
        ...refused("ewma", []),
        ...optional,
      ],
      "circuitBreaker.threshold": [
        ...taken(1, 100),
        ...ignoredFor(undefined, 0, 101, -1, 2_147_483_647),
        ...refused("50%", 1.5, true),
        ...optional,
      ],
      "circuitBreaker.window": [
        ...taken("1ms", "24h"),
        ...equalTo("10s", "0", undefined, null),
        ...ignoredFor("10s", ...badDurations),
      ],
      "circuitBreaker.openDuration": [
        ...taken("1ms", "1m"),
        ...equalTo("5s", "0s", undefined, null),
        ...ignoredFor("5s", ...badDurations),
      ],
      "circuitBreaker.minRequests": [
        ...taken(1, 2_147_483_647),
        ...equalTo(10, undefined, null),
        ...ignoredFor(10, 0, -1),
        ...refused("10", 0.5),
      ],
      "circuitBreaker.maxOpenDuration": [
        ...taken("7s", "24h"),
        ...equalTo(undefined, "6s", "0", null),
        ...ignoredFor(undefined, "5999ms", ...badDurations),
      ],
      sessionPersistence: [
        ...ignoredFor(undefined, { type: "IP" }, { type: "cookie" }, { type: "" }, { type: "\u0000" }),
        ...ignoredFor(undefined, { type: "Header" }, { type: "Header", sessionName: "X Y" }),
        ...refused({}, "Cookie", [], { type: 1 }, { sessionName: "sid" }),
        ...refused({ type: "Header", sessionName: "X-User", cookie: {} }),
        ...optional,
      ],
      "sessionPersistence.sessionName": [
        ...taken("a", "!#$", "x".repeat(256)),
        ...equalTo("__svc_session", "", undefined, null),
        ...ignoredFor("__svc_session", "a b", "a;b", "a=b", "a\r\nb", "\u0000", "\u00e4"),
        ...refused(1, "x".repeat(257)),
      ],
      "sessionPersistence.cookie": [...refused([], "x"), ...optional],
      "sessionPersistence.cookie.path": [
        ...taken("/a", "/a/b%20c!", `/${"x".repeat(1023)}`),
        ...equalTo("/", undefined, null),
        ...ignoredFor("/", "", "a", "/a;b", "/a b", "/a\r\nb", "/\u0000", "/\u00e4"),
        ...refused(1, `/${"x".repeat(1024)}`),
      ],
      "sessionPersistence.cookie.domain": [
        ...taken("a.example", "shop"),
        ...equalTo("a.example", ".A.example", "a.example."),
        ...ignoredFor(undefined, "", ".", "*.a.example", "a;b", "10.0.0.1", "a\r\nb", "\u0000", "..a"),
        ...refused(1, "x".repeat(255)),
        ...optional,
      ],
      "sessionPersistence.cookie.maxAgeSeconds": seconds,
      "sessionPersistence.cookie.expiresSeconds": seconds,
      "sessionPersistence.cookie.sameSite": [
        ...taken("None", "Lax", "Strict"),
        ...refused("none", "", 1),
        ...optional,
      ],
      "sessionPersistence.cookie.alwaysSecure": switchedOff,
      "sessionPersistence.cookie.partitioned": switchedOff,
      "sessionPersistence.cookie.omitNoneIfMisread": switchedOff,
      "sessionPersistence.cookie.changeOnFailure": switchedOff,
      ports: [
        ...taken([{ port: 80 }], [{ port: 80, protocol: "HTTP2" }]),
        ...[
          {},
          { sendServerName: false },
          { maxIntermediates: 0 },
          { sendServerName: true },
          { followClient: true },
        ].flatMap((more) => taken([{ port: 80, tls: { ...verified, ...more } }])),
        ...equalTo(undefined, []),
        // Without verification there is a warning, and what cannot be used is answered 502.
        ...closed(
          [{ port: 80, tls: { insecureSkipVerify: true } }],
          [{ port: 80, tls: { insecureSkipVerify: true, hostname: "a.b", secretRef: { name: "missing" } } }],
          [{ port: 80, tls: { ...verified, hostname: "a b" } }],
          [{ port: 80, tls: { hostname: "a.b", secretRef: { name: "users" } } }],
          [{ port: 81, tls: verified }],
          [{ port: 81, protocol: "HTTP2" }],
        ),
        ...[{}, [], { hostname: "a.b" }, { wellKnownCACertificates: "System" }].flatMap((tls) =>
          refused([{ port: 80, tls }]),
        ),
        ...[{ hostname: "" }, { wellKnownCACertificates: "Mozilla" }, { secretRef: {} }].flatMap((more) =>
          refused([{ port: 80, tls: { ...verified, ...more } }]),
        ),
        ...refused([{ port: 80, tls: { ...verified, insecureSkipVerify: true } }]),
        ...refused([{ port: 80, tls: { insecureSkipVerify: true, maxIntermediates: 1 } }]),
        ...refused([{}], [{ port: 0 }], [{ port: "http" }], [{ port: 80, protocol: "http2" }], "80"),
        ...refused(
          [{ port: 80 }, { port: 80 }],
          Array.from({ length: 17 }, (_, at) => ({ port: at + 1 })),
        ),
        ...optional,
      ],
    },
  },
  ClientTrafficPolicy: {
    full: {
      targetRefs: [{ name: "edge" }],
      maxConnections: 100,
      proxyProtocol: { enabled: true, trustedSources: [range] },
      accessLog: { enabled: false, fields: ["+request_id"] },
      tracing: { ratio: 0.5 },
    },
    fields: {
      ...tracing,
      accessLog: [...refused(true, [], "on"), ...optional],
      "accessLog.enabled": [...equalTo(undefined, true, null), ...taken(false), ...refused("no", 0, {})],
      "accessLog.fields": logFields,
      maxConnections: [
        ...taken(1, 2_147_483_647),
        ...refused(0, -1, 1.5, "100", 2_147_483_648, true, []),
        ...optional,
      ],
      targetRefs: [...targets("Gateway", "http"), ...refused([]), ...required],
      proxyProtocol: [...refused(true, [], "on"), ...optional],
      "proxyProtocol.enabled": [
        ...taken(true),
        ...equalTo(false, undefined, null),
        ...refused("true", 1, []),
      ],
      "proxyProtocol.trustedSources": [
        ...taken(["10.0.0.1", "::1"], tooMany(1024, range)),
        ...equalTo([], undefined, null),
        ...ignoredFor([range], ...badRanges.map((bad) => [bad, range])),
        ...closed(["localhost"], ["", "10.0.0.0/33"]),
        ...refused(range, [1], tooMany(1025, range), ["x".repeat(257)]),
      ],
    },
  },
  SvcIngressClassParameters: {
    full: {
      defaultAnnotations: { [size]: "1k" },
      annotations: "ingress-nginx",
      nginxConfig: { "proxy-read-timeout": "7" },
      accessLog: false,
      accessLogFields: ["+request_id"],
      tracing: { ratio: 0.5 },
    },
    fields: {
      ...tracing,
      accessLogFields: logFields,
      defaultAnnotations: [
        ...taken({ [size]: "2k" }),
        ...equalTo(undefined, {}, null, { [size]: null }),
        ...ignoredFor(
          undefined,
          { [size]: "10 apples" },
          { [size]: "" },
          { [size]: "\u0000" },
          { [size]: "9".repeat(65_536) },
          { "ingress.svc-labs.dev/no-such": "x" },
          { "example.com/other": "x" },
          { "ingress.svc-labs.dev/auth-tls-secret": "shop/users" },
        ),
        ...refused([], "x", { [size]: 1024 }, { [size]: ["1k"] }, { [size]: "9".repeat(65_537) }),
        ...refused(Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`key-${index}`, "x"]))),
      ],
      annotations: [
        ...taken("ingress-nginx"),
        ...equalTo(undefined, null),
        ...refused("nginx", "", 1, true, ["ingress-nginx"]),
      ],
      nginxConfig: [
        ...taken({ "proxy-read-timeout": "8" }, { "use-gzip": "true" }),
        ...equalTo(undefined, {}, null, { "worker-processes": "4" }),
        ...ignoredFor(undefined, { "proxy-read-timeout": "8s" }, { "no-such-key": "x" }, { hsts: "yes" }),
        ...refused([], "x", { "use-gzip": true }, { a: "9".repeat(65_537) }),
        ...refused(Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`key-${index}`, "x"]))),
      ],
      whenUnprotected: [
        ...taken("serve"),
        ...equalTo(undefined, "close", null),
        ...refused("open", "", true, ["serve"]),
      ],
      forbid: [
        ...taken(["auth-plain-hashes"], ["backend-protocol-without-verification", "auth-plain-hashes"]),
        ...equalTo(undefined, [], null),
        ...refused(
          "auth-plain-hashes",
          ["other"],
          [1],
          Array.from({ length: 3 }, () => "auth-plain-hashes"),
        ),
      ],
      accessLog: [...taken(false), ...equalTo(undefined, true, null), ...refused("no", 0, {})],
    },
  },
  SvcGatewayParameters: {
    full: {
      replicas: 2,
      resources: { requests: { cpu: "500m" }, limits: { memory: "256Mi" }, claims: [{ name: "gpu" }] },
      image: "example/gateway:1",
      serviceType: "NodePort",
      podTemplate: { spec: { nodeSelector: { disk: "ssd" } } },
    },
    fields: {
      replicas: [
        ...taken(0, 1, 10_000),
        ...equalTo(1, undefined, null),
        ...refused(-1, 10_001, "2", 1.5, []),
      ],
      resources: [
        ...taken({}, { limits: { cpu: 1, memory: "1e3", "example.com/gpu": "2" } }),
        ...optional,
        ...refused([], { limits: { cpu: "lots" } }, { limits: { cpu: true } }, { requests: { cpu: "" } }),
        ...refused({ claims: [{ name: "a" }, { name: "a" }] }, { claims: [{}] }, { limits: "1" }),
      ],
      image: [...taken("i", "i".repeat(1024)), ...refused("", 1, "i".repeat(1025)), ...optional],
      serviceType: [
        ...taken("NodePort", "ClusterIP"),
        ...equalTo("LoadBalancer", undefined, null),
        ...refused("ExternalName", "", "clusterip", 1),
      ],
      podTemplate: [
        ...taken({ metadata: { labels: { team: "a" } } }),
        ...equalTo(undefined, {}, null),
        ...closed({ spec: 7 }, { spec: { containers: "x" } }, { metadata: [] }),
        ...refused([], "x", 1),
      ],
      autoscaling: [
        ...taken({ enabled: true }, { enabled: true, minReplicas: 5, maxReplicas: 2 }),
        ...equalTo(undefined, {}, { enabled: false, maxReplicas: 3 }, null),
        ...refused({ enabled: "yes" }, { minReplicas: 0 }, { maxReplicas: 10_001 }, { minReplicas: "1" }),
        ...refused({ targetCPUUtilizationPercentage: 0 }, { targetCPUUtilizationPercentage: 101 }, true),
      ],
    },
  },
};
