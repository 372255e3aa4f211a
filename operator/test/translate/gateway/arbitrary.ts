/** Small random worlds of the Gateway API whose objects share names, hosts, ports and permissions, beside Ingresses. */
import fc from "fast-check";
import type { KindName } from "../../../src/api/kinds.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import type { WorldChange } from "../../../src/world.ts";
import * as ingress from "../arbitrary.ts";

const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const namespaces = ["blog", "shop"] as const;
const names = {
  GatewayClass: ["svc", "other"],
  Gateway: ["edge", "inner"],
  ListenerSet: ["more", "others"],
  HTTPRoute: ["web", "api"],
  GRPCRoute: ["rpc"],
  ReferenceGrant: ["grant"],
  Namespace: namespaces,
  SvcBackendPolicy: ["policy-a", "policy-b"],
  RateLimit: ["slow"],
} as const satisfies Partial<Record<KindName, readonly string[]>>;

const gatewayApi = "gateway.networking.k8s.io/v1";
const ownApi = "gateway.svc-labs.dev/v1alpha1";

/** An object of a kind under one of few names, with a spec. */
const objectOf = (
  apiVersion: string,
  kind: keyof typeof names,
  spec: fc.Arbitrary<object>,
): fc.Arbitrary<KubeObject> =>
  fc
    .record({
      apiVersion: fc.constant(apiVersion),
      kind: fc.constant(kind),
      metadata: fc.record({
        name: oneOf<string>(...names[kind]),
        namespace: oneOf(...namespaces),
        uid: oneOf("uid-1", "uid-2"),
        generation: oneOf(1, 2),
        creationTimestamp: oneOf("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"),
      }),
      spec,
    })
    .map((object) => (kind === "GatewayClass" ? clusterScoped(object) : object));

function clusterScoped({ metadata, ...object }: KubeObject): KubeObject {
  const { namespace: _namespace, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** An object with some of these fields. */
const optional = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> =>
  fc.record(fields, { requiredKeys: [] });

const hostname = oneOf("a.example.com", "*.example.com", "b.example.com");
const from = oneOf<object>(
  { from: "All" },
  { from: "Same" },
  { from: "Selector", selector: { matchLabels: { team: "one" } } },
);

const listener = fc
  .tuple(
    fc.record({
      name: oneOf("one", "two"),
      port: oneOf(8000, 8443),
      protocol: oneOf("HTTP", "HTTPS", "SCTP"),
    }),
    optional({
      hostname,
      allowedRoutes: optional({
        namespaces: from,
        kinds: oneOf<object>([{ kind: "HTTPRoute" }], [{ kind: "TCPRoute" }]),
      }),
      tls: fc
        .record({ name: oneOf("cert-a", "cert-b"), namespace: oneOf(...namespaces) })
        .map((reference) => ({ certificateRefs: [reference] })),
    }),
  )
  .map(([required, rest]) => ({ ...required, ...rest }));
const listeners = fc.uniqueArray(listener, { minLength: 1, maxLength: 3, selector: ({ name }) => name });

const gatewayClass = objectOf(
  gatewayApi,
  "GatewayClass",
  fc.record({ controllerName: oneOf("svc-labs.dev/gateway-controller", "example.com/other") }),
);

const gateway = objectOf(
  gatewayApi,
  "Gateway",
  fc.record({
    gatewayClassName: oneOf("svc", "svc", "other"),
    listeners,
    allowedListeners: from.map((rule) => ({ namespaces: rule })),
  }),
);

const listenerSet = objectOf(
  gatewayApi,
  "ListenerSet",
  fc.record({
    parentRef: fc.record({ name: oneOf(...names.Gateway), namespace: oneOf(...namespaces) }),
    listeners,
  }),
);

const parentRef = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ name: "edge", namespace: "shop" }) },
  fc
    .tuple(
      fc.record({
        name: oneOf<string>(...names.Gateway, ...names.ListenerSet),
        namespace: oneOf(...namespaces),
      }),
      optional({
        kind: oneOf("ListenerSet", "Gateway"),
        sectionName: oneOf("one", "missing"),
        port: oneOf(8000),
      }),
    )
    .map(([required, rest]) => ({ ...required, ...rest })),
);

const filter = oneOf<object>(
  { type: "RequestHeaderModifier", requestHeaderModifier: { set: [{ name: "X-A", value: "1" }] } },
  { type: "RequestRedirect", requestRedirect: { scheme: "https" } },
  { type: "ExtensionRef", extensionRef: { group: "gateway.svc-labs.dev", kind: "RateLimit", name: "slow" } },
  { type: "ExtensionRef", extensionRef: { group: "", kind: "Nothing", name: "x" } },
);

const backendRef = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ name: "echo", port: 80 }) },
  fc
    .tuple(
      fc.record({ name: oneOf("api", "echo", "missing"), port: oneOf(80, 81) }),
      optional({
        namespace: oneOf(...namespaces),
        weight: oneOf(0, 1, 3),
        kind: oneOf("Service", "Bucket"),
      }),
    )
    .map(([required, rest]) => ({ ...required, ...rest })),
);

const rule = (match: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  optional({
    matches: fc.array(match, { maxLength: 2 }),
    filters: fc.array(filter, { maxLength: 1 }),
    backendRefs: fc.array(backendRef, { maxLength: 2 }),
  });

const routeSpec = (match: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.record({
    parentRefs: fc.array(parentRef, { maxLength: 2 }),
    hostnames: fc.uniqueArray(hostname, { maxLength: 2 }),
    rules: fc.array(rule(match), { minLength: 1, maxLength: 2 }),
  });

const httpMatch = oneOf<object>(
  { path: { type: "PathPrefix", value: "/" } },
  { path: { type: "Exact", value: "/a" } },
  { path: { type: "RegularExpression", value: "/(" } },
  { method: "GET", headers: [{ name: "x-a", value: "1" }] },
);
const grpcMatch = oneOf<object>({ method: { service: "shop.Cart" } }, { method: { method: "Get" } });

const grant = objectOf(
  "gateway.networking.k8s.io/v1",
  "ReferenceGrant",
  fc.record({
    from: fc.constant(
      namespaces.flatMap((namespace) =>
        ["HTTPRoute", "GRPCRoute", "Gateway"].map((kind) => ({
          group: "gateway.networking.k8s.io",
          kind,
          namespace,
        })),
      ),
    ),
    to: oneOf([{ group: "", kind: "Service" }], [{ group: "", kind: "Secret" }]),
  }),
);

const namespace = fc
  .record({ name: oneOf(...namespaces), labels: oneOf<Record<string, string>>({}, { team: "one" }) })
  .map((metadata): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata }));

const policy = objectOf(
  ownApi,
  "SvcBackendPolicy",
  fc.record({
    targetRefs: fc.array(
      fc.record({ group: fc.constant(""), kind: fc.constant("Service"), name: oneOf("api", "echo") }),
      { minLength: 1, maxLength: 2 },
    ),
    timeouts: oneOf({ connect: "1s" }, { connect: "soon" }),
  }),
);

const rateLimit = objectOf(ownApi, "RateLimit", fc.record({ requestsPerSecond: oneOf(1, 10, -1) }));

const object: fc.Arbitrary<KubeObject> = fc.oneof(
  gatewayClass,
  gateway,
  { weight: 2, arbitrary: listenerSet },
  { weight: 4, arbitrary: objectOf(gatewayApi, "HTTPRoute", routeSpec(httpMatch)) },
  { weight: 2, arbitrary: objectOf(gatewayApi, "GRPCRoute", routeSpec(grpcMatch)) },
  grant,
  namespace,
  policy,
  rateLimit,
  { weight: 3, arbitrary: ingress.object },
);

const deletion: fc.Arbitrary<WorldChange> = oneOf(...(Object.keys(names) as (keyof typeof names)[])).chain(
  (kind) =>
    fc.record({
      type: fc.constant("delete" as const),
      kind: fc.constant(kind),
      namespace: kind === "GatewayClass" || kind === "Namespace" ? fc.constant("") : oneOf(...namespaces),
      name: oneOf<string>(...names[kind]),
    }),
);

const shop = (apiVersion: string, kind: string, name: string, rest: object): WorldChange => ({
  type: "apply",
  object: { apiVersion, kind, metadata: { name, namespace: "shop" }, ...rest } as KubeObject,
});

/** The world with which edits begin, because random edits would rarely assemble all that a served route requires. */
export const start: readonly WorldChange[] = [
  {
    type: "apply",
    object: clusterScoped({
      apiVersion: gatewayApi,
      kind: "GatewayClass",
      metadata: { name: "svc" },
      spec: { controllerName: "svc-labs.dev/gateway-controller" },
    } as KubeObject),
  },
  shop(gatewayApi, "Gateway", "edge", {
    spec: {
      gatewayClassName: "svc",
      listeners: [
        { name: "one", port: 8000, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } },
      ],
    },
  }),
  ...["api", "echo"].map((name) =>
    shop("v1", "Service", name, { spec: { ports: [{ name: "http", port: 80 }] } }),
  ),
];

export const change: fc.Arbitrary<WorldChange> = fc.oneof(
  { weight: 5, arbitrary: object.map((one): WorldChange => ({ type: "apply", object: one })) },
  deletion,
);

export const settings: fc.Arbitrary<TranslateSettings> = fc
  .record({
    ingressEnabled: fc.boolean(),
    maxScopeBytes: oneOf(defaultTranslateSettings.maxScopeBytes, 8000, 1500),
    maxServiceEndpointBytes: oneOf(defaultTranslateSettings.maxServiceEndpointBytes, 100),
    maxEndpointBytes: oneOf(defaultTranslateSettings.maxEndpointBytes, 250, 50),
    hostOwnership: oneOf("off" as const, "namespace" as const),
    gatewayVips: oneOf(undefined, {
      namespace: "svc-system",
      selector: {},
      serviceType: "ClusterIP" as const,
    }),
  })
  .map((options) => ({ ...defaultTranslateSettings, ...options }));
