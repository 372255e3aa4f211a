import { Buffer } from "node:buffer";
import { annotationKey, type AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import { annotationCases } from "../../../common/test/features/annotation-cases.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { htpasswdLabel } from "../../src/translate/credentials/htpasswd.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld } from "../../src/world.ts";

const host = "a.example.com";

type Annotations = Readonly<Record<string, string>>;

const endpointSlice: KubeObject & { readonly spec: object } = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace: "shop", name: "echo-1", labels: { "kubernetes.io/service-name": "echo" } },
  spec: {},
  ...{ addressType: "IPv4", ports: [{ port: 8080 }], endpoints: [{ addresses: ["10.0.0.7"] }] },
};

/** Translates one Ingress with these annotations, in a class with these defaults. */
function translateOne(
  own: Annotations,
  defaults: Annotations = {},
  more: readonly KubeObject[] = [],
): Translation {
  const backend = { service: { name: "echo", port: { number: 80 } } };
  const parameters = {
    apiGroup: "ingress.svc-labs.dev",
    kind: "SvcIngressClassParameters",
    scope: "Namespace",
    namespace: "infra",
    name: "defaults",
  };
  const objects: readonly (KubeObject & { readonly spec: object })[] = [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "svc" },
      spec: { controller: "svc-labs.dev/gateway-controller", parameters },
    },
    {
      apiVersion: "ingress.svc-labs.dev/v1alpha1",
      kind: "SvcIngressClassParameters",
      metadata: { namespace: "infra", name: "defaults" },
      spec: { defaultAnnotations: defaults },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "shop", name: "echo" },
      spec: { ports: [{ port: 80 }] },
    },
    endpointSlice,
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { namespace: "shop", name: "shop", annotations: { ...own } },
      spec: {
        ingressClassName: "svc",
        tls: [{ hosts: [host] }],
        rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      },
    },
  ];
  return translate(createWorld([...objects, ...more]), defaultTranslateSettings);
}

const users: KubeObject & { readonly spec: object; readonly data: Annotations } = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "shop", name: "users", labels: { [htpasswdLabel]: "true" } },
  spec: {},
  data: { auth: Buffer.from(`jane:$2y$05$${"a".repeat(53)}`).toString("base64") },
};

/** The objects that defaults of the class refer to: policies with a visible effect, and a list of users. */
const ofClass = [
  users,
  ...(
    [
      ["IpAccessControl", { deny: ["10.0.0.0/8"] }],
      ["RateLimit", { requestsPerSecond: 5 }],
      ["RetryPolicy", { attempts: 2 }],
      ["Compression", { gzip: true }],
      ["SvcExternalAuth", { protocol: "HTTP", backendRef: { name: "echo", port: 80 } }],
    ] as const
  ).map(([kind, spec]): KubeObject & { readonly spec: object } => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind,
    metadata: { namespace: "infra", name: "of-class" },
    spec,
  })),
];

/** A default of the class for each annotation that can have one. */
const classDefaults: Readonly<Record<string, string>> = {
  "trust-forwarded-for": "true",
  "forwarded-for-header": "X-Real-IP",
  "forwarded-for-trusted-cidrs": "10.0.0.0/8",
  "ip-access-control": "infra/of-class",
  "rate-limit": "infra/of-class",
  "error-pages": "404",
  "error-pages-backend": "echo.shop:80",
  "closed-paths": "/closed",
  satisfy: "any",
  "forwarding-fields": "scheme",
  "max-body-size": "1k",
  "auth-basic-secret": "infra/of-class",
  "auth-basic-realm": "By the class",
  "auth-basic-hide-credentials": "true",
  "mirror-target": "echo.shop:80",
  "auth-jwt": "infra/of-class",
  "ext-auth": "infra/of-class",
  "request-header-set": "X-Set: by the class",
  "request-header-add": "X-Add: by the class",
  "request-header-remove": "X-Internal",
  "response-header-set": "X-Set: by the class",
  "response-header-set-tls": "X-Set: by the class",
  "response-header-add": "X-Add: by the class",
  "response-header-remove": "X-Internal",
  "response-header-request-id": "Request-Id",
  "response-cookie-domain": "internal.example shop.example",
  "response-cookie-path": "/app /shop",
  "response-location": "http://internal/ /",
  "cors-allow-origins": "https://a.example",
  "cors-allow-methods": "PUT",
  "cors-allow-headers": "X-A",
  "cors-allow-credentials": "true",
  "cors-expose-headers": "X-B",
  "cors-max-age": "7s",
  "redirect-scheme": "https",
  "redirect-hostname": "other.example.com",
  "redirect-port": "8443",
  "redirect-path": "/moved",
  "redirect-status-code": "307",
  retry: "infra/of-class",
  "rewrite-target": "/new",
  "ssl-redirect": "true",
  "ssl-redirect-code": "301",
  "read-timeout": "3s",
  "send-timeout": "4s",
  "read-gap-timeout": "5s",
  "send-gap-timeout": "6s",
  "connect-timeout": "7s",
  "connect-timeout-status": "504",
  compression: "infra/of-class",
  "use-regex": "true",
  "path-normalize": "merge-slashes",
};

const withUsers: Annotations = { "ingress.svc-labs.dev/auth-basic-secret": "shop/users" };
const corsOn: Annotations = { "ingress.svc-labs.dev/cors-allow-origins": "https://a.example" };

/** The annotations of the Ingress without which a default has no effect, by the name of the default. */
const companions: Readonly<Record<string, Annotations>> = {
  "forwarded-for-header": { "ingress.svc-labs.dev/trust-forwarded-for": "true" },
  "forwarded-for-trusted-cidrs": { "ingress.svc-labs.dev/trust-forwarded-for": "true" },
  "auth-basic-realm": withUsers,
  "auth-basic-hide-credentials": withUsers,
  "cors-allow-methods": corsOn,
  "cors-allow-headers": corsOn,
  "cors-allow-credentials": corsOn,
  "cors-expose-headers": corsOn,
  "cors-max-age": corsOn,
  "redirect-status-code": { "ingress.svc-labs.dev/redirect-hostname": "b.example.com" },
  "ssl-redirect-code": { "ingress.svc-labs.dev/ssl-redirect": "true" },
};

/** Hostile values, besides those of the table. */
const hostileValues: readonly string[] = [
  "x".repeat(100_001),
  `${"1".repeat(100_000)}s`,
  ` ${"\n".repeat(100_000)}true`,
  "a/b,".repeat(30_000),
  "\u0000",
  "true\u0000",
  "x\r\nX-Injected: y",
  "\u001b[31m \u202e\u2028",
  "\ud800",
];

/** The resources of the shared proxies, with their bodies. */
const served = ({ scopes }: Translation): unknown => scopes.shared;

const isRefused = (definition: AnnotationDefinition<unknown>, value: string): boolean =>
  value.length > 65_536 || !definition.parse(value.trim(), () => undefined).ok;

const badValues = (definition: AnnotationDefinition<unknown>): readonly string[] => [
  ...(annotationCases[definition.name] ?? []).flatMap(([value, verdict]) =>
    value.trim() !== "" && (verdict === "malformed" || verdict === "senseless") ? [value] : [],
  ),
  ...hostileValues.filter((value) => value.trim() !== "" && isRefused(definition, value)),
];

function expectServing(translation: Translation): void {
  expect(translation.diagnostics.map(({ reason }) => reason)).to.not.include("InternalError");
  const routes = translation.routing.hosts.flatMap(({ value }) => value.routes);
  expect(routes.map(({ id, backends: [backend] }) => [id, backend?.endpoints])).to.deep.equal([
    ["ingress/shop/shop:0.0", "shop/echo/80"],
  ]);
}

const nothing = translateOne({});

/** The Events about values: an annotation that needs another one may be alone here, which has an Event of its own. */
const aboutValues = ({ events }: Translation): Translation["events"] =>
  events.filter(({ message }) => !message.includes("auth-tls-secret is not set"));

describe("translate: values of annotations that cannot be used", () => {
  for (const [key, definition] of annotations) {
    const { fallback, onInvalid } = definition;
    // The documented meaning: that of a reference to nothing, or that of no annotation.
    const missing = { [key]: "shop/no-such-thing" };
    const meant = (asDefault: boolean): unknown => {
      if (onInvalid === "ignore") return served(nothing);
      return served(asDefault ? translateOne({}, missing) : translateOne(missing));
    };

    it(`${key}: an invalid value on an Ingress applies the fallback, raises one Event, and the Ingress is served`, () => {
      const wanted = meant(false);
      for (const value of badValues(definition)) {
        const translation = translateOne({ [key]: value });
        expectServing(translation);
        expect(served(translation), JSON.stringify(value.slice(0, 40))).to.deep.equal(wanted);
        expect(aboutValues(translation)).to.have.lengthOf(1);
        const [event] = aboutValues(translation);
        expect(event).to.deep.include({ type: "Warning", reason: "InvalidAnnotation" });
        expect(event?.object).to.include({ kind: "Ingress", namespace: "shop", name: "shop" });
        const message = event?.message ?? "";
        expect(message.startsWith(`${key}: `)).to.equal(true);
        expect(message.endsWith(`; ${fallback}`), message).to.equal(true);
        expect(Buffer.byteLength(message)).to.be.at.most(1000);
        expect(message).to.match(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u);
      }
    });

    it(`${key}: an invalid class default is reported at the class parameters only`, () => {
      const wanted = definition.classDefault ? meant(true) : served(nothing);
      for (const value of badValues(definition)) {
        const translation = translateOne({}, { [key]: value });
        expectServing(translation);
        expect(served(translation), JSON.stringify(value.slice(0, 40))).to.deep.equal(wanted);
        expect(translation.events).to.deep.equal([]);
        const ofParameters = translation.diagnostics.filter(({ object }) => object.name === "defaults");
        expect(ofParameters).to.have.lengthOf(1);
        expect(ofParameters[0]?.field).to.equal(`spec.defaultAnnotations[${key}]`);
      }
    });

    it(`${key}: a valid value raises no Event`, () => {
      for (const [value, verdict] of annotationCases[definition.name] ?? []) {
        if (verdict !== "taken") continue;
        const reported = aboutValues(translateOne({ [key]: value })).filter(({ message }) =>
          message.startsWith(`${key}: `),
        );
        // What a valid value refers to may be missing: a resource, or a group of the path.
        const about =
          definition.type === "namespaced-name"
            ? /does not exist|no ReferenceGrant permits/
            : /: \$\d has no group to refer to/;
        for (const { message } of reported) expect(message).to.match(about);
      }
    });

    it(`${key}: an empty value sets nothing and does not hide the class default`, () => {
      expect(aboutValues(translateOne({ [key]: " " }))).to.have.lengthOf(
        definition.emptyIsAbsent === true ? 0 : 1,
      );
      const [good = ""] =
        (annotationCases[definition.name] ?? []).find(([, verdict]) => verdict === "taken") ?? [];
      const inherited = { [key]: good };
      expect(served(translateOne({ [key]: "" }, inherited))).to.deep.equal(
        definition.classDefault || onInvalid === "ignore"
          ? served(translateOne({}, inherited))
          : served(translateOne({ [key]: "" })),
      );
    });
  }

  for (const [key, definition] of annotations) {
    if (!definition.classDefault) continue;
    const isProtection = definition.onInvalid === "deny";
    it(`${key}: an invalid value on an Ingress ${isProtection ? "closes the route" : "keeps the default"} when the class has a default`, () => {
      const value = classDefaults[definition.name];
      if (value === undefined) expect.fail("has no default here");
      const own = companions[definition.name] ?? {};
      const withDefault = translateOne(own, { [key]: value }, ofClass);
      // The path of the Ingress is a prefix, so that use-regex has no visible effect.
      if (definition.name !== "use-regex" && !(isProtection && definition.name !== "ext-auth")) {
        expect(served(withDefault), "the default has an effect").to.not.deep.equal(
          served(translateOne(own, {}, ofClass)),
        );
      }
      const closed = translateOne({ ...own, [key]: "shop/no-such-thing" }, { [key]: value }, ofClass);
      for (const bad of badValues(definition)) {
        const translation = translateOne({ ...own, [key]: bad }, { [key]: value }, ofClass);
        expect(served(translation), JSON.stringify(bad.slice(0, 40))).to.deep.equal(
          served(isProtection ? closed : withDefault),
        );
        const messages = translation.events.map(({ message }) => message);
        const instead = isProtection ? `; ${definition.fallback}` : "; the default of the class applies";
        expect(
          messages.some((message) => message.endsWith(instead)),
          messages.join(),
        ).to.equal(true);
      }
      // So does a reference to something that does not exist.
      if (!isProtection && definition.type === "namespaced-name") {
        expect(served(closed)).to.deep.equal(served(withDefault));
      }
    });
  }

  it("an invalid header-set or header-add annotation leaves all header changes of its direction to the class", () => {
    const prefix = "ingress.svc-labs.dev/";
    for (const direction of ["request", "response"]) {
      const fence = { [`${prefix}${direction}-header-remove`]: "X-Internal" };
      for (const action of ["set", "add"]) {
        const own = {
          [`${prefix}${direction}-header-${action}`]: "no field at all",
          [`${prefix}${direction}-header-remove`]: "X-Other",
        };
        expect(served(translateOne(own, fence))).to.deep.equal(served(translateOne({}, fence)));
      }
    }
  });

  it("an Ingress whose annotations are all invalid gets one Event for each of them", () => {
    const own = Object.fromEntries([...annotations.keys()].map((key) => [key, "\u0000 ?!"]));
    const translation = translateOne(own);
    expectServing(translation);
    const reported = translation.events.map(({ message }) => message.slice(0, message.indexOf(": ")));
    expect(reported).to.have.members([...annotations.values()].map(annotationKey));
  });
});
