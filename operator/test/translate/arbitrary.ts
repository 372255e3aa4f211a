/** Small random worlds whose objects share names, hosts and paths, so that they meet, conflict and break often. */
import { readFileSync } from "node:fs";
import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import type { KindName } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { validateObject } from "../../src/api/validate.ts";
import { nginxAnnotations } from "../../src/translate/ingress-nginx/annotations/index.ts";
import type { TranslateSettings } from "../../src/translate/settings.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import type { WorldChange } from "../../src/world.ts";
import { testdata } from "./golden.ts";

const oneOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const namespaces = ["blog", "shop"] as const;
const services = ["api", "echo"] as const;
const secrets = ["cert-a", "cert-b"] as const;
const ourController = "svc-labs.dev/gateway-controller";
const classes = ["nginx", "other", "svc"] as const;

const metadata = (names: readonly string[], annotations: fc.Arbitrary<Record<string, string>>) =>
  fc.record(
    {
      name: oneOf(...names),
      namespace: oneOf(...namespaces),
      creationTimestamp: oneOf("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"),
      annotations,
    },
    { requiredKeys: ["name", "namespace"] },
  );

const noAnnotations = fc.constant({});

/** Annotations of ingress-nginx, some of which depend on other objects or on all Ingresses of a host. */
const nginxNames = [...nginxAnnotations.keys(), "ssl-redirects"].map(
  (name) => `nginx.ingress.kubernetes.io/${name}`,
);

/** Values that some of them accept. */
const nginxValues = [
  "nginx",
  "basic",
  "any",
  "cookie",
  "on",
  "HTTPS",
  "GET",
  "10",
  "404,503",
  "10.0.0.0/8",
  "shop/cert-a",
  "cert-a",
  "echo",
  "/$1",
  "https://$host/oauth2/start",
  "https://echo.shop.svc/check",
  "b.example.com,*.example.com",
  "$request_uri",
  'more_set_headers "X-A: 1"; location /a { deny all; }',
];

const annotations = fc.dictionary(
  oneOf(
    "ingress.svc-labs.dev/max-body-size",
    "ingress.svc-labs.dev/path-normalize",
    "ingress.svc-labs.dev/redirect-path",
    "ingress.svc-labs.dev/request-header-remove",
    "ingress.svc-labs.dev/request-header-set",
    "ingress.svc-labs.dev/ssl-redirect",
    "ingress.svc-labs.dev/use-regex",
    "ingress.svc-labs.dev/unknown",
    "kubernetes.io/ingress.class",
    ...nginxNames,
  ),
  oneOf(
    "1k",
    "2m",
    "lots",
    "",
    "svc",
    "true",
    "merge-slashes",
    "none",
    "/a",
    "Connection: x\nX-A: 1",
    ...nginxValues,
  ),
);

const host = oneOf("a.example.com", "*.example.com", "b.example.com", "", "not a host");
const backend = fc.oneof(
  { weight: 6, arbitrary: fc.record({ service: serviceBackend() }) },
  fc.constant({ resource: { kind: "Bucket", name: "x" } }),
  fc.constant({}),
);

function serviceBackend() {
  return fc.record({
    name: oneOf(...services, ...services, "missing"),
    port: oneOf<object>({ number: 80 }, { name: "http" }, { number: 81 }, {}),
  });
}

const path = fc.record({
  path: oneOf("/", "/a", "/a/", "/a/b", "relative", "/x//y", "/(.*)", "/(", ""),
  pathType: oneOf("Exact", "Prefix", "ImplementationSpecific"),
  backend,
});

const ingress = fc.record({
  apiVersion: fc.constant("networking.k8s.io/v1"),
  kind: fc.constant("Ingress"),
  metadata: metadata(["one", "two", "three"], annotations),
  spec: fc.record(
    {
      ingressClassName: oneOf("svc", "svc", "svc", "nginx", "nginx", "other", "missing"),
      defaultBackend: backend,
      rules: fc.array(
        fc.record(
          { host, http: fc.record({ paths: fc.array(path, { maxLength: 3 }) }) },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
      tls: fc.array(
        fc.record(
          { hosts: fc.array(host, { maxLength: 2 }), secretName: oneOf(...secrets, "missing") },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  ),
});

const ingressClass = fc.record({
  apiVersion: fc.constant("networking.k8s.io/v1"),
  kind: fc.constant("IngressClass"),
  metadata: fc.record({
    name: oneOf(...classes),
    annotations: oneOf<Record<string, string>>({}, { "ingressclass.kubernetes.io/is-default-class": "true" }),
  }),
  spec: fc.record(
    {
      controller: oneOf(ourController, ourController, ourController, "k8s.io/ingress-nginx"),
      parameters: oneOf(
        {
          apiGroup: "ingress.svc-labs.dev",
          kind: "SvcIngressClassParameters",
          name: "defaults",
          namespace: "shop",
          scope: "Namespace",
        },
        { kind: "ConfigMap", name: "defaults" },
      ),
    },
    { requiredKeys: ["controller"] },
  ),
});

const parameters = fc.record({
  apiVersion: fc.constant("ingress.svc-labs.dev/v1alpha1"),
  kind: fc.constant("SvcIngressClassParameters"),
  metadata: metadata(["defaults"], noAnnotations),
  spec: fc.record(
    { defaultAnnotations: annotations, accessLog: fc.boolean(), annotations: oneOf("ingress-nginx") },
    { requiredKeys: [] },
  ),
});

const service = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Service"),
  metadata: metadata(services, noAnnotations),
  spec: fc.oneof(
    { weight: 4, arbitrary: fc.constant({ ports: [{ name: "http", port: 80 }] }) },
    fc.constant({ ports: [{ port: 80, appProtocol: "kubernetes.io/h2c" }], ipFamilies: ["IPv6"] }),
    fc.constant({ type: "ExternalName", externalName: "backend.example.net" }),
    // The address of an endpoint elsewhere.
    fc.constant({ clusterIP: "10.0.0.2", ports: [{ name: "http", port: 8080 }] }),
  ),
});

const slice = fc.record({
  apiVersion: fc.constant("discovery.k8s.io/v1"),
  kind: fc.constant("EndpointSlice"),
  metadata: metadata(["s1", "s2", "s3"], noAnnotations).chain((base) =>
    oneOf(...services).map((name) => ({ ...base, labels: { "kubernetes.io/service-name": name } })),
  ),
  addressType: oneOf("IPv4", "IPv6", "FQDN"),
  ports: oneOf<unknown>([{ name: "http", port: 8080 }], [{ port: 8081 }], null),
  endpoints: fc.array(
    fc.record(
      {
        addresses: oneOf(["10.0.0.1"], ["10.0.0.2"], ["fd00::1"], ["db.example.net"], []),
        conditions: fc.record(
          { ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["addresses"] },
    ),
    { maxLength: 3 },
  ),
});

/** Certificates of the golden case, so that no key has to be generated here. */
const certificateData = parseAllDocuments(
  readFileSync(new URL("ingress-with-tls-ecdsa-and-rsa.in.yaml", testdata), "utf8"),
)
  .map((document) => validateObject(document.toJS()))
  .flatMap((result) =>
    result.ok && result.value.object.kind === "Secret" ? [result.value.object.data] : [],
  );

const secret = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Secret"),
  metadata: metadata(secrets, noAnnotations),
  type: oneOf("kubernetes.io/tls", "kubernetes.io/tls", "Opaque"),
  data: oneOf(...certificateData, {}),
});

/** Any object that a world may hold, some of them past validation. */
export const object: fc.Arbitrary<KubeObject> = fc.oneof(
  { weight: 5, arbitrary: ingress as fc.Arbitrary<KubeObject> },
  { weight: 2, arbitrary: ingressClass as fc.Arbitrary<KubeObject> },
  parameters as fc.Arbitrary<KubeObject>,
  { weight: 2, arbitrary: service as fc.Arbitrary<KubeObject> },
  { weight: 2, arbitrary: slice as fc.Arbitrary<KubeObject> },
  { weight: 2, arbitrary: secret as fc.Arbitrary<KubeObject> },
);

const deletion: fc.Arbitrary<WorldChange> = fc.record({
  type: fc.constant("delete" as const),
  kind: oneOf<KindName>("Ingress", "Service", "EndpointSlice", "Secret", "SvcIngressClassParameters"),
  namespace: oneOf(...namespaces),
  name: oneOf("one", "two", "three", "defaults", "s1", ...services, ...secrets),
});

export const change: fc.Arbitrary<WorldChange> = fc.oneof(
  { weight: 4, arbitrary: object.map((one): WorldChange => ({ type: "apply", object: one })) },
  deletion,
);

export const settings: fc.Arbitrary<TranslateSettings> = fc
  .record({
    allowExternalName: fc.boolean(),
    ingressHttpsPort: oneOf(0, 443),
    ingressDefaultBackend: oneOf(undefined, { namespace: "shop", name: "echo", port: { number: 80 } }),
    defaultTlsSecret: oneOf(undefined, { namespace: "shop", name: "cert-a" }),
    ingressClass: oneOf(undefined, "svc"),
    watchNamespaces: oneOf([], ["shop"]),
    maxScopeBytes: oneOf(defaultTranslateSettings.maxScopeBytes, 3000, 500),
    maxServiceEndpointBytes: oneOf(defaultTranslateSettings.maxServiceEndpointBytes, 100),
    maxEndpointBytes: oneOf(defaultTranslateSettings.maxEndpointBytes, 250, 50),
    hostOwnership: oneOf("off" as const, "namespace" as const),
    ingressNginx: fc
      .record({ classes: oneOf<readonly string[]>([], ["nginx"]), watchWithoutClass: fc.boolean() })
      .map((nginx) => ({ ...defaultTranslateSettings.ingressNginx, ...nginx })),
  })
  .map((options) => ({ ...defaultTranslateSettings, ...options }));

/** Ports of pods of the gateway, at addresses that endpoints have as well. */
export const ownPorts: fc.Arbitrary<OwnPorts> = fc
  .subarray(["10.0.0.1", "10.0.0.2", "fd00::1"])
  .chain((hosts) =>
    fc.tuple(
      fc.constant(hosts),
      fc.array(fc.subarray([8080, 8081]), { minLength: hosts.length, maxLength: hosts.length }),
    ),
  )
  .map(([hosts, ports]) => ({
    addresses: hosts.map((ip, index) => ({ host: ip, ports: ports[index] ?? [] })),
  }));
