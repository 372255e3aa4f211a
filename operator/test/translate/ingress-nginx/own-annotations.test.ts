/** Annotations of ingress-nginx beside those of this gateway. See docs/ingress-nginx.md, "How annotations are read". */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { BackendChoice } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld } from "../../../src/world.ts";
import { ingressOf, settings } from "./hostile-values.ts";

type Annotations = Readonly<Record<string, string>>;

/** Keys with their prefixes: `nginx/` for ingress-nginx, `own/` for this gateway. */
const withPrefixes = (annotations: Annotations): Annotations =>
  Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key.replace("nginx/", "nginx.ingress.kubernetes.io/").replace("own/", "ingress.svc-labs.dev/"),
      value,
    ]),
  );

/** A class with defaults. */
const classOf = (defaults: Annotations): readonly KubeObject[] => [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "nginx" },
    spec: {
      controller: "k8s.io/ingress-nginx",
      parameters: {
        apiGroup: "ingress.svc-labs.dev",
        kind: "SvcIngressClassParameters",
        name: "nginx",
        namespace: "infra",
        scope: "Namespace",
      },
    },
  } as KubeObject,
  {
    apiVersion: "ingress.svc-labs.dev/v1alpha1",
    kind: "SvcIngressClassParameters",
    metadata: { name: "nginx", namespace: "infra" },
    spec: { defaultAnnotations: withPrefixes(defaults) },
  } as KubeObject,
];

type Read = {
  readonly features: RouteFeatures;
  /** The weights of the backends. */
  readonly weights: readonly number[];
  /** The conditions that choose other weights. */
  readonly choices: readonly BackendChoice["when"][];
  /** The reasons of findings about annotations, by their names without prefix. */
  readonly findings: readonly string[];
};

/**
 * Translates an Ingress with the annotations, of a class with the defaults. `others` are further objects. Returns the
 * first route.
 */
function read(
  annotations: Annotations,
  defaults: Annotations = {},
  others: readonly KubeObject[] = [],
): Read {
  const world = createWorld([
    ...classOf(defaults),
    ...others,
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "users", namespace: "shop" },
      type: "Opaque",
      data: { auth: Buffer.from("anna:{PLAIN}secret").toString("base64") },
    } as KubeObject,
    ingressOf({
      name: "web",
      namespace: "shop",
      createdOn: "2024-01-01",
      annotations: withPrefixes(annotations),
      rules: { "web.example": "/" },
    }),
  ]);
  const { routing, diagnostics } = translate(world, settings);
  const routes = routing.hosts.flatMap(({ value }) => value.routes);
  return {
    features: routes[0]?.features ?? {},
    weights: (routes[0]?.backends ?? []).map(({ weight }) => weight),
    choices: (routes[0]?.choices ?? []).map(({ when }) => when),
    findings: diagnostics
      .filter(({ field }) => field?.includes("annotations") === true)
      .map(({ field, reason }) => `${reason} ${/\/([a-z-]+)/.exec(field ?? "")?.[1] ?? ""}`),
  };
}

describe("annotations of ingress-nginx beside those of this gateway", () => {
  it("the origins of this gateway replace all CORS settings of ingress-nginx, with a finding about each", () => {
    const { features, findings } = read({
      "nginx/enable-cors": "true",
      "nginx/cors-allow-methods": "GET, PUT",
      "nginx/cors-max-age": "600",
      "own/cors-allow-origins": "https://own.example",
      "own/cors-allow-methods": "PATCH",
    });
    expect(features.cors).to.deep.equal({
      allowOrigins: ["https://own.example"],
      allowCredentials: false,
      allowMethods: ["PATCH"],
      allowHeaders: [],
      exposeHeaders: [],
      maxAgeSeconds: 5,
    });
    expect(findings).to.include.members([
      "AnnotationOverridden enable-cors",
      "AnnotationOverridden cors-allow-methods",
      "AnnotationOverridden cors-max-age",
    ]);
  });

  it("enable-cors of an Ingress replaces the origins of this gateway that are a default of the class", () => {
    const defaults = { "own/cors-allow-origins": "https://class.example" };
    expect(read({ "nginx/enable-cors": "true" }, defaults).features.cors?.allowOrigins).to.deep.equal(["*"]);
    expect(read({ "nginx/enable-cors": "false" }, defaults).features.cors).to.equal(undefined);
  });

  it("a CORS setting of ingress-nginx without enable-cors leaves the origins of the class in effect", () => {
    const defaults = { "own/cors-allow-origins": "https://class.example" };
    const { features, findings } = read({ "nginx/cors-max-age": "600" }, defaults);
    expect(features.cors?.allowOrigins).to.deep.equal(["https://class.example"]);
    expect(features.cors?.maxAgeSeconds).to.equal(5);
    expect(findings).to.include("NoEffect cors-max-age");
  });

  it("auth-basic-realm of this gateway is the realm of users of ingress-nginx", () => {
    const users = { "nginx/auth-type": "basic", "nginx/auth-secret": "users" };
    const realmOf = ({ features }: Read): string | undefined => features["auth-basic-secret"]?.[0]?.realm;
    expect(realmOf(read({ ...users, "nginx/auth-realm": "nginx" }))).to.equal("nginx");
    expect(realmOf(read({ ...users, "own/auth-basic-realm": "own" }))).to.equal("own");
    const both = read({ ...users, "nginx/auth-realm": "nginx", "own/auth-basic-realm": "own" });
    expect(realmOf(both)).to.equal("own");
    expect(both.findings).to.include("AnnotationOverridden auth-realm");
    const ofClass = { "own/auth-basic-realm": "class" };
    expect(realmOf(read(users, ofClass))).to.equal("class");
    expect(realmOf(read({ ...users, "nginx/auth-realm": "nginx" }, ofClass))).to.equal("nginx");
  });

  it("satisfy: all of this gateway replaces satisfy: any of ingress-nginx", () => {
    const { features, findings } = read({ "nginx/satisfy": "any", "own/satisfy": "all" });
    expect(features.satisfy).to.equal(undefined);
    expect(findings).to.include("AnnotationOverridden satisfy");
  });

  const primary = ingressOf({
    ...{ name: "primary", namespace: "shop", createdOn: "2023-01-01" },
    rules: { "web.example": "/" },
  });
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "echo", namespace: "shop" },
    spec: { ports: [{ name: "http", port: 80 }] },
  } as KubeObject;
  const readBesidePrimary = (annotations: Annotations): Read => read(annotations, {}, [primary, service]);

  it("each canary annotation of this gateway replaces that of ingress-nginx of the same name", () => {
    const { weights, choices, findings } = readBesidePrimary({
      "nginx/canary": "true",
      "nginx/canary-weight": "0",
      "nginx/canary-by-cookie": "kept",
      "own/canary-weight": "30",
    });
    expect(weights).to.deep.equal([70, 30]);
    expect(choices[0]).to.deep.equal({ cookies: [{ name: "kept", type: "exact", value: "always" }] });
    expect(findings).to.deep.equal(["AnnotationOverridden canary-weight"]);
  });

  it("canary settings of ingress-nginx apply to a canary that an annotation of this gateway declares", () => {
    const { weights, findings } = readBesidePrimary({ "own/canary": "true", "nginx/canary-weight": "20" });
    expect(weights).to.deep.equal([80, 20]);
    expect(findings).to.deep.equal([]);
  });

  it("canary: false of this gateway replaces canary: true of ingress-nginx", () => {
    const { weights, findings } = read({ "nginx/canary": "true", "own/canary": "false" });
    expect(weights).to.have.length(1);
    expect(findings).to.deep.equal(["AnnotationOverridden canary"]);
  });

  it("every target of a redirect of this gateway replaces the URL of ingress-nginx, with a finding", () => {
    const nginx = { "nginx/permanent-redirect": "https://nginx.example/" };
    const byUrl = read({ ...nginx, "own/redirect-url": "https://own.example/" });
    expect(byUrl.features.redirect).to.deep.equal({ url: "https://own.example/", statusCode: 302 });
    expect(byUrl.findings).to.include("AnnotationOverridden permanent-redirect");
    const byPort = read({ ...nginx, "own/redirect-port": "8443" });
    expect(byPort.features.redirect).to.deep.equal({ port: 8443, statusCode: 302 });
    expect(byPort.findings).to.include("AnnotationOverridden permanent-redirect");
  });

  it("redirect-status-code of this gateway is the status of a URL of ingress-nginx", () => {
    const { features, findings } = read({
      "nginx/permanent-redirect": "https://nginx.example/",
      "nginx/permanent-redirect-code": "302",
      "own/redirect-status-code": "308",
    });
    expect(features.redirect).to.deep.include({ url: "https://nginx.example/", statusCode: 308 });
    expect(findings).to.include("AnnotationOverridden permanent-redirect-code");
  });

  it("the timeouts of this gateway replace those of ingress-nginx, with a finding about each", () => {
    const { features, findings } = read({
      "nginx/proxy-connect-timeout": "10",
      "nginx/proxy-read-timeout": "10",
      "nginx/proxy-send-timeout": "10",
      "own/connect-timeout": "20s",
      "own/read-gap-timeout": "20s",
      "own/send-gap-timeout": "20s",
    });
    const expected = { connectTimeoutMs: 20_000, readGapMs: 20_000, sendGapMs: 20_000 };
    expect(features.timeouts).to.deep.include(expected);
    expect(findings).to.have.members([
      "AnnotationOverridden proxy-connect-timeout",
      "AnnotationOverridden proxy-read-timeout",
      "AnnotationOverridden proxy-send-timeout",
    ]);
  });
});
