import { readFileSync } from "node:fs";
import type { ClientRules, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import { annotationCases } from "../../../common/test/features/annotation-cases.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { ageOf, compareAges } from "../../src/translate/age.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld } from "../../src/world.ts";
import { testdata } from "./golden.ts";

/** The tenant whose traffic must not change, and the one that tries everything. */
const victim = "shop";
const hostile = "blog";

const oneOf = fc.constantFrom;

const hosts = ["shared.example.com", "a.example.com", "*.example.com", ""];
const paths = ["/", "/a", "/a/", "/a/b", "/x(.*)", "/(a+)+$", "/a//b", "relative", "/%zz"];

/** What would lead to the belongings of the other tenant, if it were followed. */
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
const hostileAnnotations = fc
  .tuple(fc.dictionary(oneOf(...annotations.keys()), oneOf(...new Set(values)), { maxKeys: 8 }), tempting)
  .map(([any, aimed]): Record<string, string> => ({ ...any, ...aimed }));
const ownAnnotations = fc.record(
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

type Ingress = KubeObject & { readonly spec: object };

const backend = { service: { name: "echo", port: { number: 80 } } };

const ingressesOf = (
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

/** A certificate for any host; what it names is another matter. */
const certificateData = parseAllDocuments(
  readFileSync(new URL("ingress-with-tls-ecdsa-and-rsa.in.yaml", testdata), "utf8"),
)
  .map((document) => document.toJS() as KubeObject & { readonly data?: object })
  .find(({ kind }) => kind === "Secret")?.data;

/** Authorities of clients: other ones for each tenant. */
const authoritiesOf = Object.fromEntries(
  parseAllDocuments(readFileSync(new URL("ingress-with-auth-tls.in.yaml", testdata), "utf8"))
    .map((document) => document.toJS() as KubeObject & { readonly data?: { readonly "ca.crt"?: string } })
    .filter(({ kind, metadata }) => kind === "Secret" && metadata.name === "clients")
    .map(({ metadata, data }) => [metadata.namespace === victim ? victim : hostile, data?.["ca.crt"]]),
);

/** The public key of RFC 8037 A.2. */
const publicKey = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What either tenant has in its namespace, under the same names. */
const belongings = (namespace: string): readonly KubeObject[] => {
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

const ourClass: KubeObject & { readonly spec: object } = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  spec: { controller: "svc-labs.dev/gateway-controller" },
};

/** A grant of the hostile tenant is worth nothing elsewhere. */
const selfGrant: KubeObject & { readonly spec: object } = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "ReferenceGrant",
  metadata: { namespace: hostile, name: "all" },
  spec: {
    from: [{ group: "networking.k8s.io", kind: "Ingress", namespace: hostile }],
    to: [{ group: "", kind: "Secret" }],
  },
};

const ofVictim = ({ source }: Route): boolean => source.namespace === victim;

/** The routes of explicit paths on a host, by slot. Default backends stand below every path, whoever has it. */
function slotsOf({ routing }: Translation): ReadonlyMap<string, Route> {
  return new Map(
    routing.hosts.flatMap(({ host, value }) =>
      value.routes
        .filter(({ fallback }) => fallback !== true)
        .map((route) => [`${host.host} ${route.match.path.type} ${route.match.path.value}`, route] as const),
    ),
  );
}

const resourcesOf = (translation: Translation): ReadonlyMap<string, string> =>
  new Map(translation.scopes.shared.map(({ key, body }) => [key, body]));

/** What a handshake proves by, as routes demand it. */
const fulfils = (rules: ClientRules, proof: ClientValidation | undefined): boolean =>
  proof !== undefined &&
  rules.authorities !== undefined &&
  (proof.owner === rules.owner ||
    (proof.authorities === rules.authorities && proof.maxIntermediates === rules.maxIntermediates));

/** Whether a request with TLS may take a route over a connection that was verified like this. */
function isLetIn(
  { routing }: Translation,
  slot: string,
  route: Route,
  proof: ClientValidation | undefined,
): boolean {
  const host = slot.slice(0, slot.indexOf(" "));
  const ofHost = routing.hosts.find((one) => one.host.host === host)?.value.clients;
  return [ofHost, route.clients].every((rules) => rules === undefined || fulfils(rules, proof));
}

const hasRules = (all: readonly Ingress[], { source }: Route): boolean =>
  all.some(
    ({ metadata: { name, annotations: own } }) =>
      name === source.name && own?.["ingress.svc-labs.dev/auth-tls-secret"] !== undefined,
  );

/** Findings about the victim that an older neighbour, or a more specific rule of its host, explains. */
const byPrecedence = new Set([
  "RouteConflict",
  "CertificateConflict",
  "PathLevelConflict",
  "RegexShadowed",
  "DefaultBackendShadowed",
]);

describe("translate: two tenants, of whom one is hostile", () => {
  const worlds = fc.record({
    own: ingressesOf(victim, ownAnnotations as fc.Arbitrary<Record<string, string>>, {
      defaultBackend: fc.constant(undefined),
    }),
    others: ingressesOf(hostile, hostileAnnotations, { defaultBackend: oneOf(undefined, backend) }),
  });
  const both = (own: readonly Ingress[], others: readonly Ingress[]): readonly [Translation, Translation] => {
    const alone = [ourClass, ...belongings(victim), ...own];
    const together = [...alone, selfGrant, ...belongings(hostile), ...others];
    return [alone, together].map((objects) =>
      translate(createWorld(objects), defaultTranslateSettings),
    ) as unknown as readonly [Translation, Translation];
  };
  const ageOfNamed = (all: readonly Ingress[], { source }: Route): ReturnType<typeof ageOf> => {
    const found = all.find(
      ({ metadata }) => metadata.namespace === source.namespace && metadata.name === source.name,
    );
    if (found === undefined) throw new Error(`${source.namespace}/${source.name} is nobody's`);
    return ageOfIngress(found);
  };

  const claims = ({ spec }: Ingress, host: string): boolean => {
    const { rules, defaultBackend } = spec as {
      rules: readonly { host?: string }[];
      defaultBackend?: object;
    };
    return (
      rules.some((rule) => (rule.host ?? "*") === host) || (host === "*" && defaultBackend !== undefined)
    );
  };
  const ageOfIngress = (one: Ingress): ReturnType<typeof ageOf> => ageOf(one as Parameters<typeof ageOf>[0]);

  it("a hostile tenant changes no path level of a host that the other tenant claimed first", () => {
    const levelOf = ({ routing }: Translation, name: string): string | undefined =>
      routing.hosts.find(({ host }) => host.host === name)?.value.pathLevel;
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        for (const { host, value } of alone.routing.hosts) {
          const agesOf = (all: readonly Ingress[]): readonly ReturnType<typeof ageOf>[] =>
            all.filter((one) => claims(one, host.host)).map(ageOfIngress);
          const theirs = agesOf(others);
          const isFirst = agesOf(own).some((one) => theirs.every((other) => compareAges(one, other) < 0));
          if (isFirst) expect(levelOf(together, host.host)).to.equal(value.pathLevel);
        }
      }),
    );
  });

  it("a hostile tenant changes no route of the other, except where its Ingress is older", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const after = slotsOf(together);
        for (const [slot, route] of slotsOf(alone)) {
          const now = after.get(slot);
          if (now === undefined) expect.fail(`${slot} is gone`);
          if (ofVictim(now)) {
            expect(now).to.deep.equal(route);
          } else {
            expect(compareAges(ageOfNamed(others, now), ageOfNamed(own, route))).to.be.below(0);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant changes no endpoints, credentials, policies, findings or Events of the other", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const after = resourcesOf(together);
        for (const [key, body] of resourcesOf(alone)) {
          if (/^(?:endpoints|htpasswd|jwks)\|/.test(key)) expect(after.get(key), key).to.equal(body);
        }
        const about = ({ diagnostics }: Translation): readonly string[] =>
          diagnostics
            .filter(({ object, reason }) => object.namespace === victim && !byPrecedence.has(reason))
            .map(({ object, reason, field, message }) => JSON.stringify([object, reason, field, message]));
        const isOwnership = (text: string): boolean => text.includes(" whose TLS belongs to ");
        // A more recent owner of a host is told that its rules for client certificates do not hold.
        expect(about(together).filter((text) => !isOwnership(text))).to.have.members(
          about(alone).filter((text) => !isOwnership(text)),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant gets no credentials of the other tenant into its routes", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const [alone, together] = both(own, others);
        const known = resourcesOf(alone);
        const gained = [...resourcesOf(together).keys()].filter(
          (key) => /^(?:htpasswd|jwks)\|shop\//.test(key) && !known.has(key),
        );
        expect(gained).to.deep.equal([]);
        for (const route of slotsOf(together).values()) {
          if (ofVictim(route)) continue;
          // A path may read like the name of something.
          const { "rewrite-target": _, redirect: __, ...features } = route.features ?? {};
          expect(JSON.stringify(features)).to.not.include(`${victim}/`);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("a hostile tenant lets no connection reach a route that client certificates of the other protect", () => {
    const settingsOf = (hasDefault: boolean, isOwned: boolean): TranslateSettings => ({
      ...defaultTranslateSettings,
      hostOwnership: isOwned ? "namespace" : "off",
      ...(hasDefault && { defaultTlsSecret: { namespace: "infra", name: "cert" } }),
    });
    const defaultSecret: KubeObject & { readonly type: string; readonly data: object | undefined } = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "infra", name: "cert" },
      type: "kubernetes.io/tls",
      data: certificateData,
    };
    const dependent = (secret: string): fc.Arbitrary<Record<string, string>> =>
      oneOf({}, { "ingress.svc-labs.dev/auth-tls-secret": secret });
    const more = { defaultBackend: fc.constant(undefined), hasTls: true };
    const withTls = fc.record({
      own: ingressesOf(victim, dependent("shop/clients"), more),
      others: ingressesOf(hostile, dependent("blog/clients"), more),
    });
    const flags = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
    let closed = 0;
    fc.assert(
      fc.property(withTls, flags, ({ own, others }, [hasDefault, hasCertificate, isOwned]) => {
        // The server certificate of the victim is missing for a while, or not.
        const mine = belongings(victim).filter(({ metadata }) => hasCertificate || metadata.name !== "cert");
        const alone = [ourClass, defaultSecret, ...mine, ...own];
        const settings = settingsOf(hasDefault, isOwned);
        const before = translate(createWorld(alone), settings);
        const after = translate(
          createWorld([...alone, selfGrant, ...belongings(hostile), ...others]),
          settings,
        );
        // Whatever a handshake may have proven, and nothing at all.
        const proofs = [undefined, ...(after.routing.clientCerts.get(443)?.hosts ?? [])];
        const then = slotsOf(after);
        for (const [slot, route] of slotsOf(before)) {
          const now = then.get(slot);
          if (now === undefined || !ofVictim(now)) continue;
          if (hasRules(own, now)) expect(isLetIn(after, slot, now, undefined), slot).to.equal(false);
          for (const proof of proofs) {
            if (isLetIn(after, slot, now, proof)) {
              const isByOwnRules = now.clients !== undefined && fulfils(now.clients, proof);
              expect(isByOwnRules || isLetIn(before, slot, route, proof), slot).to.equal(true);
            } else if (proof === undefined) closed++;
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(closed).to.be.above(50);
  });

  it("a hostile tenant gets nothing of a host that the other named first when namespaces own hosts", () => {
    const settings: TranslateSettings = { ...defaultTranslateSettings, hostOwnership: "namespace" };
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        const alone = [ourClass, ...belongings(victim), ...own];
        const before = translate(createWorld(alone), settings);
        const after = translate(
          createWorld([...alone, selfGrant, ...belongings(hostile), ...others]),
          settings,
        );
        for (const { host, value } of before.routing.hosts) {
          // Whose every host is depends on paths that can be used, as default backends are everybody's there.
          if (host.kind === "any") continue;
          const naming = (all: readonly Ingress[]): readonly Ingress[] =>
            all.filter(({ spec }) =>
              (spec as { rules: readonly { host?: string }[] }).rules.some(
                (rule) => (rule.host ?? "*") === host.host,
              ),
            );
          const theirs = naming(others).map(ageOfIngress);
          const isFirst = naming(own).some((one) =>
            theirs.every((other) => compareAges(ageOfIngress(one), other) < 0),
          );
          if (!isFirst) continue;
          const now = after.routing.hosts.find((one) => one.host.host === host.host)?.value;
          // Handshakes for a host that nobody lists are those of a wildcard, whosever it is.
          expect({ ...now, clients: undefined }, host.host).to.deep.equal({ ...value, clients: undefined });
        }
      }),
      { numRuns: 200 },
    );
  });

  it("the older owner of a host keeps its certificates and client certificates", () => {
    fc.assert(
      fc.property(worlds, ({ own, others }) => {
        // Here every Ingress of the victim is older than every other.
        const older = own.map((one) => ({
          ...one,
          metadata: { ...one.metadata, creationTimestamp: "2020-01-01T00:00:00Z" },
        }));
        const [alone, together] = both(older, others);
        const tlsOf = (
          translation: Translation,
        ): { readonly hosts: readonly { readonly host: string }[] }[] =>
          ["tls|443", "clientcert|443"].map(
            (key) =>
              JSON.parse(resourcesOf(translation).get(key) ?? '{"hosts":[]}') as {
                readonly hosts: readonly { readonly host: string }[];
              },
          );
        const listed = new Map(tlsOf(alone)[0]?.hosts.map((entry) => [entry.host, entry]));
        const asked = new Map(tlsOf(alone)[1]?.hosts.map((entry) => [entry.host, entry]));
        for (const host of listed.keys()) {
          const [certificates, clients] = tlsOf(together);
          expect(certificates?.hosts.find((entry) => entry.host === host)).to.deep.equal(listed.get(host));
          expect(clients?.hosts.find((entry) => entry.host === host)).to.deep.equal(asked.get(host));
        }
      }),
      { numRuns: 150 },
    );
  });
});
