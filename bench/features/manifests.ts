import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TokenIssuer } from "../compare/setup.ts";
import { object, service } from "../manifests.ts";
import { type Feature, hostOf, user, without } from "./features.ts";

const annotationPrefix = "ingress.svc-labs.dev/";

type What = { readonly backendPort: number; readonly token: TokenIssuer };

/**
 * Writes one Ingress for each feature and one without any, all to the Service `backend`, and the objects that the
 * features refer to.
 */
export function writeManifests(
  folder: string,
  features: readonly Feature[],
  { backendPort, token }: What,
): void {
  const items = [
    object("networking.k8s.io/v1", "IngressClass", "svc", {
      spec: { controller: "svc-labs.dev/gateway-controller" },
    }),
    ...["backend", "sticky", "copies"].flatMap((name) => service(name, backendPort)),
    ...[without, ...features].map(ingress),
    ...policies(token),
  ];
  writeFileSync(join(folder, "all.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}

function ingress({ name, annotations, backend = "backend" }: Feature): object {
  const own = Object.entries(annotations).map(([key, value]) => [`${annotationPrefix}${key}`, value]);
  const to = { service: { name: backend, port: { number: 80 } } };
  return object("networking.k8s.io/v1", "Ingress", name, {
    annotations: Object.fromEntries(own),
    spec: {
      ingressClassName: "svc",
      rules: [
        {
          host: hostOf(name),
          http: { paths: [{ path: "/", pathType: "Prefix", backend: to }] },
        },
      ],
    },
  });
}

const policy = (kind: string, name: string, spec: object): object =>
  object("gateway.svc-labs.dev/v1alpha1", kind, name, { spec });

const policies = ({ issuer, jwks }: TokenIssuer): readonly object[] => [
  policy("RateLimit", "route", { requestsPerSecond: 10_000_000 }),
  policy("RateLimit", "namespace", {
    requestsPerSecond: 10_000_000,
    scope: "Namespace",
    maxConcurrent: 1_000,
  }),
  policy("IpAccessControl", "ranges", {
    allow: ["127.0.0.0/8", ...Array.from({ length: 100 }, (_, index) => `10.${index}.0.0/16`)],
  }),
  policy("Compression", "gzip", { gzip: true, level: 1, types: ["application/octet-stream"] }),
  policy("RetryPolicy", "twice", { attempts: 2 }),
  policy("JwtAuth", "tokens", {
    issuer,
    jwks: { inline: { jwks } },
    claimToHeaders: [{ claim: "sub", header: "X-User" }],
  }),
  policy("SvcExternalAuth", "cached", {
    protocol: "HTTP",
    backendRef: { name: "backend", port: 80 },
    http: {
      method: "GET",
      cache: { key: "$http_authorization", times: [{ statuses: [200], duration: "1h" }] },
    },
  }),
  policy("SvcBackendPolicy", "sticky", {
    targetRefs: [{ name: "sticky" }],
    sessionPersistence: { type: "Cookie", sessionName: "session" },
  }),
  object("v1", "Secret", "users", {
    labels: { [`${annotationPrefix}auth-basic`]: "true" },
    type: "Opaque",
    stringData: { auth: `${user.name}:${user.hash}\n` },
  }),
];
