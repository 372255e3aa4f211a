/** A small world in which a resource of the gateway's own is used in every way that its kind can be used. */
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import type { KindName } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { validateObject } from "../../src/api/validate.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld } from "../../src/world.ts";
import { gatewayKind, manifest, ours, type Manifest } from "../api/manifests.ts";

const extensions: ReadonlySet<KindName> = new Set<KindName>([
  "RetryPolicy",
  "IpAccessControl",
  "RateLimit",
  "SvcExternalAuth",
  "JwtAuth",
  "BasicAuth",
  "Compression",
  "RequestSizeLimit",
  "PathRewriteRegex",
  "RouteOptions",
]);

/** The annotation that names resources of a kind, if there is one. */
const annotationOf = (kind: KindName): string | undefined => {
  const [definition] = [...annotations.values()].filter(({ resource }) => resource === kind);
  return definition === undefined ? undefined : annotationKey(definition);
};

const settings: TranslateSettings = {
  ...defaultTranslateSettings,
  gatewayVips: { namespace: "svc-system", selector: { app: "proxy" }, serviceType: "LoadBalancer" },
  dedicated: {
    image: "svc-gateway:1.0.0",
    podTemplate: {},
    discoveryEndpoint: "svc-controller-discovery.svc-system.svc:50051",
    bootstrapEndpoint: "svc-controller-discovery.svc-system.svc:50052",
    trustDomain: "cluster.local",
  },
};

const named = (object: Manifest, name: string): Manifest => ({
  ...object,
  metadata: { ...(object["metadata"] as object), name },
});

const service = (name: string, port: number): readonly Manifest[] => [
  named(manifest("v1", "Service", { spec: { ports: [{ name: "main", port }] } }), name),
  manifest(
    "discovery.k8s.io/v1",
    "EndpointSlice",
    {
      addressType: "IPv4",
      ports: [{ name: "main", port }],
      endpoints: [{ addresses: ["10.0.0.1"] }],
    },
    { name: `${name}-1`, labels: { "kubernetes.io/service-name": name } },
  ),
];

const parametersRef = { name: "one", namespace: "shop" };
const ownKind = (kind: KindName) => ({ group: "gateway.svc-labs.dev", kind });

const route = (name: string, filters: readonly object[] = []): Manifest =>
  named(
    gatewayKind("HTTPRoute", {
      parentRefs: [{ name: "edge" }],
      hostnames: [`${name}.example.com`],
      rules: [{ filters, backendRefs: [{ name: "web", port: 80 }] }],
    }),
    name,
  );

const ingress = (name: string, ownAnnotations: Readonly<Record<string, string>> = {}): Manifest => {
  const backend = { service: { name: "web", port: { number: 80 } } };
  const rule = {
    host: `${name}.ingress.example.com`,
    http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
  };
  return manifest(
    "networking.k8s.io/v1",
    "Ingress",
    { spec: { ingressClassName: "svc", rules: [rule] } },
    { name, annotations: ownAnnotations },
  );
};

/** Everything but the resource, which is named `one`. The neighbours do not use it. */
function surroundings(kind: KindName | undefined): readonly Manifest[] {
  const key = kind && annotationOf(kind);
  const filters =
    kind !== undefined && extensions.has(kind)
      ? [{ type: "ExtensionRef", extensionRef: { ...ownKind(kind), name: "one" } }]
      : [];
  return [
    named(gatewayKind("GatewayClass", { controllerName: settings.controllerName }), "svc"),
    named(
      manifest("networking.k8s.io/v1", "IngressClass", {
        spec: {
          controller: settings.controllerName,
          ...(kind === "SvcIngressClassParameters" && {
            parameters: { apiGroup: "ingress.svc-labs.dev", kind, scope: "Namespace", ...parametersRef },
          }),
        },
      }),
      "svc",
    ),
    named(
      gatewayKind("Gateway", {
        gatewayClassName: "svc",
        listeners: [{ name: "http", port: 80, protocol: "HTTP" }],
        ...(kind === "SvcGatewayParameters" && {
          infrastructure: { parametersRef: { ...ownKind(kind), name: "one" } },
        }),
      }),
      "edge",
    ),
    manifest(
      "v1",
      "Service",
      { spec: { ports: [{ port: 80, targetPort: 30_000 }] } },
      {
        name: "shop-edge-3788f37a-shared-gw",
        namespace: "svc-system",
        labels: { "app.kubernetes.io/component": "shared-gateway-vip" },
      },
    ),
    ...service("web", 80),
    ...service("auth", 9000),
    manifest(
      "v1",
      "Secret",
      { type: "Opaque", data: { auth: Buffer.from(`alice:${passwordHash}\n`).toString("base64") } },
      { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
    ),
    route("user", filters),
    ingress("user", key === undefined ? {} : { [key]: "shop/one" }),
    route("neighbour"),
    ingress("neighbour"),
  ];
}

const passwordHash = "$2y$04$7jehzFjm1aqaNTXehpQTOegNTraQa8ld1mWj1IeZJNOdHvoXf3B.q";

/** The names of the objects that findings may be about: the resource, and its user. */
const reportable: ReadonlySet<string> = new Set(["one", "user", "edge"]);

/** Translates a world in which a resource of a kind is used, or without one if it is undefined. Checks all findings. */
export function translateResource(kind: KindName | undefined, spec?: object): Translation {
  const objects = [...surroundings(kind), ...(kind === undefined ? [] : [named(ours(kind, spec), "one")])];
  const valid = objects.map((object): KubeObject => {
    const validated = validateObject(object);
    if (!validated.ok)
      expect.fail(`${JSON.stringify(validated.error)}: ${JSON.stringify(object).slice(0, 200)}`);
    return validated.value.object;
  });
  const translation = translate(createWorld(valid), settings);
  for (const { reason, message, object, field = "" } of translation.diagnostics) {
    expect(reason).to.not.equal("InternalError");
    expect(reportable.has(object.name), `${object.kind} ${object.name}: ${message}`).to.equal(true);
    for (const text of [message, field]) {
      expect(Buffer.byteLength(text)).to.be.at.most(1000);
      expect(text).to.match(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u);
    }
  }
  const neighbours = translation.routing.hosts.filter(({ host }) => host.host.startsWith("neighbour."));
  expect(
    neighbours.flatMap(({ value }) => value.routes.map(({ backends }) => backends[0]?.endpoints)),
  ).to.include("shop/web/80");
  return translation;
}

/** The result for proxies and objects: two values of the same meaning give the same outcome. */
export const outcomeOf = ({ scopes, wantedKeySets, dedicated, vips }: Translation): unknown => ({
  scopes,
  wantedKeySets,
  dedicated: dedicated.map(({ state, objects }) => ({ state, objects })),
  vips: vips.map(({ service: one }) => one),
});
