/** Two tenants that share hosts: generated Ingresses of both, and what each has in its namespace. */
import assert from "node:assert";
import { readFileSync } from "node:fs";
import type { ClientRules, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { annotationCases } from "../../../common/test/features/annotation-cases.ts";
import type { ObjectOf } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { validateObject } from "../../src/api/validate.ts";
import { comparedPath } from "../../src/translate/ingress/path.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { testdata } from "./golden.ts";

/** The tenant whose traffic must not change, and the one that tries everything. */
export const victim = "shop";
export const hostile = "blog";

export const oneOf = fc.constantFrom;

const hosts = ["shared.example.com", "a.example.com", "*.example.com", ""];
const paths = ["/", "/a", "/a/", "/a/b", "/x(.*)", "/(a+)+$", "/a//b", "relative", "/%zz"];

/** Annotations that would expose objects of the other tenant if they were honoured. */
const tempting = fc.record(
  {
    "ingress.svc-labs.dev/auth-basic-secret": oneOf("shop/users"),
    "ingress.svc-labs.dev/auth-jwt": oneOf("shop/tokens"),
    "ingress.svc-labs.dev/auth-tls-secret": oneOf("shop/clients", "blog/clients"),
    "ingress.svc-labs.dev/ext-auth": oneOf("shop/gate"),
    "ingress.svc-labs.dev/mirror-target": oneOf("echo.shop:80"),
    "ingress.svc-labs.dev/path-normalize": oneOf("merge-slashes", "decode-and-merge-slashes"),
    "ingress.svc-labs.dev/use-regex": oneOf("true"),
  },
  { requiredKeys: [] },
);
const values = Object.values(annotationCases).flatMap((cases) => cases.map(([value]) => value));
export const hostileAnnotations = fc
  .tuple(fc.dictionary(oneOf(...annotations.keys()), oneOf(...new Set(values)), { maxKeys: 8 }), tempting)
  .map(([any, aimed]): Record<string, string> => ({ ...any, ...aimed }));
export const ownAnnotations = fc.record(
  {
    "ingress.svc-labs.dev/max-body-size": oneOf("1k", "8m"),
    "ingress.svc-labs.dev/auth-basic-secret": oneOf("shop/users"),
    "ingress.svc-labs.dev/auth-tls-secret": oneOf("shop/clients"),
    "ingress.svc-labs.dev/rate-limit": oneOf("shop/slow"),
    "ingress.svc-labs.dev/path-normalize": oneOf("base", "merge-slashes"),
    "ingress.svc-labs.dev/use-regex": oneOf("true", "false"),
  },
  { requiredKeys: [] },
);

export type Ingress = KubeObject & { readonly spec: object };

export const backend = { service: { name: "echo", port: { number: 80 } } };

export const ingressesOf = (
  namespace: string,
  given: fc.Arbitrary<Record<string, string>>,
  more: { readonly defaultBackend: fc.Arbitrary<object | undefined>; readonly hasTls?: boolean },
): fc.Arbitrary<readonly Ingress[]> =>
  fc.uniqueArray(
    fc
      .record({
        name: oneOf("one", "two", "three"),
        creationTimestamp: oneOf("2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
        annotations: given,
        rules: fc.array(
          fc.record({
            host: oneOf(...hosts),
            paths: fc.array(
              fc.record({
                path: oneOf(...paths),
                pathType: oneOf("Exact", "Prefix", "ImplementationSpecific"),
              }),
              { minLength: 1, maxLength: 3 },
            ),
          }),
          { minLength: 1, maxLength: 2 },
        ),
        tls: fc.array(
          fc.record({
            hosts: fc.array(oneOf("shared.example.com", "a.example.com", "*.example.com"), { maxLength: 2 }),
            secretName: oneOf("cert", "missing"),
          }),
          { minLength: more.hasTls === true ? 1 : 0, maxLength: 1 },
        ),
        defaultBackend: more.defaultBackend,
      })
      .map(({ rules, tls, defaultBackend, ...metadata }) => ({
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: { namespace, ...metadata },
        spec: {
          ingressClassName: "svc",
          tls,
          ...(defaultBackend !== undefined && { defaultBackend }),
          rules: rules.map(({ host, paths: written }) => ({
            ...(host !== "" && { host }),
            http: { paths: written.map((path) => ({ ...path, backend })) },
          })),
        },
      })),
    { maxLength: 3, selector: ({ metadata }) => metadata.name },
  );

/** The Secrets of a golden case as the API server returns them: their text as base64 under `data`. */
const secretsOf = (file: string): readonly ObjectOf<"Secret">[] =>
  parseAllDocuments(readFileSync(new URL(file, testdata), "utf8"))
    .map((document) => validateObject(document.toJS()))
    .flatMap((result) => (result.ok && result.value.object.kind === "Secret" ? [result.value.object] : []));

/** The value of `key` in the first Secret that has it. */
const dataOf = (secrets: readonly ObjectOf<"Secret">[], key: string): string => {
  const found = secrets.find(({ data }) => data?.[key] !== undefined)?.data?.[key];
  assert(found !== undefined, `no Secret has the key ${key}`);
  return found;
};

const certificates = secretsOf("ingress-with-tls-ecdsa-and-rsa.in.yaml");

/** A certificate that the tests use for every host, whichever names it contains. */
export const certificateData = {
  "tls.crt": dataOf(certificates, "tls.crt"),
  "tls.key": dataOf(certificates, "tls.key"),
};

const authorities = secretsOf("ingress-with-auth-tls.in.yaml").filter(
  ({ metadata }) => metadata.name === "clients",
);

/** Authorities of clients: other ones for each tenant. */
const authoritiesOf = Object.fromEntries(
  [victim, hostile].map((tenant) => [
    tenant,
    dataOf(
      authorities.filter(({ metadata }) => (metadata.namespace === victim) === (tenant === victim)),
      "ca.crt",
    ),
  ]),
);

/** The public key of RFC 8037 A.2. */
const publicKey = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** The objects that each tenant has in its namespace, under the same names. */
export const belongings = (namespace: string): readonly KubeObject[] => {
  const one = (apiVersion: string, kind: string, name: string, rest: object): KubeObject => ({
    apiVersion,
    kind,
    metadata: { namespace, name },
    ...rest,
  });
  const ours = "gateway.svc-labs.dev/v1alpha1";
  const htpasswd = `${namespace}:$2y$05$${"a".repeat(53)}\n`;
  return [
    one("v1", "Service", "echo", { spec: { ports: [{ name: "http", port: 80 }] } }),
    {
      ...one("discovery.k8s.io/v1", "EndpointSlice", "echo-1", {
        addressType: "IPv4",
        ports: [{ name: "http", port: 8080 }],
        endpoints: [{ addresses: [namespace === victim ? "10.0.0.1" : "10.6.6.6"] }],
      }),
      metadata: { namespace, name: "echo-1", labels: { "kubernetes.io/service-name": "echo" } },
    },
    {
      ...one("v1", "Secret", "users", { type: "Opaque", data: { auth: base64(htpasswd) } }),
      metadata: { namespace, name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
    },
    one("v1", "Secret", "cert", { type: "kubernetes.io/tls", data: certificateData }),
    {
      ...one("v1", "Secret", "clients", { type: "Opaque", data: { "ca.crt": authoritiesOf[namespace] } }),
      metadata: { namespace, name: "clients", labels: { "ingress.svc-labs.dev/auth-tls": "true" } },
    },
    one(ours, "RateLimit", "slow", { spec: { requestsPerSecond: namespace === victim ? 5 : 0.001 } }),
    one(ours, "SvcExternalAuth", "gate", {
      spec: { protocol: "HTTP", backendRef: { name: "echo", port: 80 } },
    }),
    one(ours, "JwtAuth", "tokens", {
      spec: { issuer: namespace, jwks: { inline: { jwks: { keys: [publicKey] } } } },
    }),
    one(ours, "SvcBackendPolicy", "policy", {
      spec: {
        targetRefs: [{ group: "", kind: "Service", name: "echo" }],
        timeouts: { connect: namespace === victim ? "1s" : "1ms" },
      },
    }),
  ];
};

export const ourClass: KubeObject & { readonly spec: object } = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
};

/** A grant of the hostile tenant is worth nothing elsewhere. */
export const selfGrant: KubeObject & { readonly spec: object } = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "ReferenceGrant",
  metadata: { namespace: hostile, name: "all" },
  spec: {
    from: [{ group: "networking.k8s.io", kind: "Ingress", namespace: hostile }],
    to: [{ group: "", kind: "Secret" }],
  },
};

export const ofVictim = ({ source }: Route): boolean => source.namespace === victim;

/** The routes of explicit paths on a host, by slot. Default backends come after every path, of any owner. */
export function slotsOf({ routing }: Translation): ReadonlyMap<string, Route> {
  return new Map(
    routing.hosts.flatMap(({ host, value }) =>
      value.routes
        .filter(({ fallback }) => fallback !== true)
        .map((route) => [`${host.host} ${route.match.path.type} ${route.match.path.value}`, route] as const),
    ),
  );
}

/** The first route of the host of a slot that proxies compare as equal to this one, such as after slashes are merged. */
export function equalRouteOf({ routing }: Translation, slot: string, { match }: Route): Route | undefined {
  const value = routing.hosts.find(({ host }) => slot.startsWith(`${host.host} `))?.value;
  const form = { level: value?.pathLevel ?? "base", isDecoded: value?.matchPaths === "decoded" } as const;
  const path = comparedPath(match.path, form);
  return value?.routes.find(
    (route) =>
      route.fallback !== true &&
      route.match.path.type === match.path.type &&
      comparedPath(route.match.path, form) === path,
  );
}

export const resourcesOf = (translation: Translation): ReadonlyMap<string, string> =>
  new Map(translation.scopes.shared.map(({ key, body }) => [key, body]));

/** Whether the certificate validation of a handshake satisfies the client rules of a route. */
export const fulfils = (rules: ClientRules, proof: ClientValidation | undefined): boolean =>
  proof !== undefined &&
  rules.authorities !== undefined &&
  (proof.owner === rules.owner ||
    (proof.authorities === rules.authorities && proof.maxIntermediates === rules.maxIntermediates));

/** Whether a request with TLS may take a route over a connection that was verified like this. */
export function isLetIn(
  { routing }: Translation,
  slot: string,
  route: Route,
  proof: ClientValidation | undefined,
): boolean {
  const host = slot.slice(0, slot.indexOf(" "));
  const ofHost = routing.hosts.find((one) => one.host.host === host)?.value.clients;
  return [ofHost, route.clients].every((rules) => rules === undefined || fulfils(rules, proof));
}

export const hasRules = (all: readonly Ingress[], { source }: Route): boolean =>
  all.some(
    ({ metadata: { name, annotations: own } }) =>
      name === source.name && own?.["ingress.svc-labs.dev/auth-tls-secret"] !== undefined,
  );

/** Findings about the victim that an older neighbour, or a more specific rule of its host, explains. */
export const byPrecedence = new Set([
  "RouteConflict",
  "CertificateConflict",
  "PathLevelConflict",
  "RegexShadowed",
  "DefaultBackendShadowed",
]);
