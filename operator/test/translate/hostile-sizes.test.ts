import { Buffer } from "node:buffer";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld } from "../../src/world.ts";

const ourClass: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  ...{ spec: { controller: "svc-labs.dev/gateway-controller" } },
};

type Parts = { readonly name?: string; readonly annotations?: Record<string, string>; readonly spec: object };

const ingress = ({ name = "big", annotations = {}, spec }: Parts): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { namespace: "shop", name, annotations },
  ...{ spec: { ingressClassName: "svc", ...spec } },
});

const path = (text: string) => ({
  path: text,
  pathType: "Prefix",
  backend: { service: { name: "missing", port: { number: 80 } } },
});

const run = (...objects: readonly KubeObject[]) =>
  translate(createWorld([ourClass, ...objects]), defaultTranslateSettings);

describe("translate: hostile sizes", () => {
  it("an annotation of 10 MB is not copied into findings or Events", () => {
    const annotations = {
      "ingress.svc-labs.dev/max-body-size": "8".repeat(10_000_000),
      [`ingress.svc-labs.dev/${"x".repeat(10_000_000)}`]: "",
    };
    const { diagnostics, events } = run(
      ingress({ annotations, spec: { rules: [{ host: "a.example.com", http: { paths: [path("/")] } }] } }),
    );
    expect(diagnostics.map(({ reason }) => reason)).to.include.members([
      "InvalidAnnotation",
      "UnknownAnnotation",
    ]);
    for (const { message, field = "" } of [
      ...diagnostics,
      ...events.map((event) => ({ ...event, field: "" })),
    ]) {
      expect(message.length + field.length).to.be.below(2000);
    }
  });

  it("an Ingress of 3,000 rules and 6,000 paths is served", () => {
    const rules = Array.from({ length: 3000 }, (_, rule) => ({
      host: `h${rule % 1000}.example.com`,
      http: { paths: [path(`/p${rule}`), path(`/q${rule}`)] },
    }));
    const { routing, diagnostics } = run(ingress({ spec: { rules } }));
    expect(routing.hosts).to.have.lengthOf(1000);
    expect(routing.hosts.flatMap(({ value }) => value.routes)).to.have.lengthOf(6000);
    expect(diagnostics.map(({ reason }) => reason)).to.deep.equal(["ServiceNotFound"]);
  });

  it("each of 3,000 Ingresses with one path gets an Event that names the winner", () => {
    const spec = { rules: [{ host: "a.example.com", http: { paths: [path("/")] } }] };
    const losers = Array.from({ length: 3000 }, (_, index) => ingress({ name: `i${index + 1000}`, spec }));
    const { conflicts, events } = run(...losers);
    expect(conflicts).to.have.lengthOf(2999);
    const conflictEvents = events.filter(({ reason }) => reason === "RouteConflict");
    expect(conflictEvents.every(({ message }) => message.endsWith("is shadowed by shop/i1000"))).to.equal(
      true,
    );
    expect(conflictEvents).to.not.have.lengthOf(0);
  });

  it("the Event of a conflict names the winner even when the path is longer than a message", () => {
    const spec = { rules: [{ host: "a.example.com", http: { paths: [path(`/${"p".repeat(5000)}`)] } }] };
    const { events } = run(ingress({ name: "a", spec }), ingress({ name: "b", spec }));
    expect(events[0]?.message).to.match(
      /^Route on host a\.example\.com path "\/p+\.\.\.p+" is shadowed by shop\/a$/,
    );
  });

  const neighbour = ingress({
    name: "neighbour",
    spec: { rules: [{ host: "n.example.com", http: { paths: [path("/")] } }] },
  });
  const sizeOf = (translation: ReturnType<typeof run>): number =>
    translation.scopes.shared.reduce((sum, { body }) => sum + body.length, 0);

  it("an Ingress whose paths multiply a large annotation answers 503, and its neighbour is served", () => {
    const annotations = {
      "ingress.svc-labs.dev/response-header-set": Array.from(
        { length: 30 },
        (_, index) => `X-${index}: ${"v".repeat(1000)}`,
      ).join("\n"),
    };
    const paths = Array.from({ length: 2000 }, (_, index) => path(`/p${index}`));
    const big = ingress({ annotations, spec: { rules: [{ host: "a.example.com", http: { paths } }] } });
    const translation = run(big, neighbour);
    expect(sizeOf(translation)).to.be.below(2_000_000);
    const [first, other] = translation.routing.hosts;
    expect(first?.value.routes).to.have.lengthOf(2000);
    for (const { features, backends } of first?.value.routes ?? []) {
      expect(features).to.equal(undefined);
      expect(backends[0]?.status).to.equal(503);
    }
    expect(other?.host.host).to.equal("n.example.com");
    expect(translation.diagnostics.map(({ reason }) => reason)).to.include("RoutesTooLarge");
  });

  const gatewayObjects = (filterBytes: number): readonly KubeObject[] => {
    const group = "gateway.networking.k8s.io/v1";
    const listeners = Array.from({ length: 8 }, (_, index) => ({
      name: `l${index}`,
      port: 8000 + index,
      protocol: "HTTP",
    }));
    const set = Array.from({ length: 16 }, (_, index) => ({
      name: `X-${index}`,
      value: "v".repeat(filterBytes),
    }));
    const matches = Array.from({ length: 64 }, (_, index) => ({
      path: { type: "PathPrefix", value: `/${index}` },
    }));
    return [
      {
        apiVersion: group,
        kind: "GatewayClass",
        metadata: { name: "svc" },
        ...{ spec: { controllerName: "svc-labs.dev/gateway-controller" } },
      },
      {
        apiVersion: group,
        kind: "Gateway",
        metadata: { namespace: "shop", name: "web" },
        ...{ spec: { gatewayClassName: "svc", listeners } },
      },
      {
        apiVersion: group,
        kind: "HTTPRoute",
        metadata: { namespace: "shop", name: "big" },
        ...{
          spec: {
            parentRefs: [{ name: "web" }],
            hostnames: Array.from({ length: 16 }, (_, index) => `h${index}.example.com`),
            rules: [
              { matches, filters: [{ type: "ResponseHeaderModifier", responseHeaderModifier: { set } }] },
            ],
          },
        },
      },
    ];
  };

  it("an HTTPRoute that multiplies large filters over hosts and listeners answers 500, and its status says why", () => {
    const translation = run(...gatewayObjects(4000), neighbour);
    expect(sizeOf(translation)).to.be.below(8 * 1024 * 1024);
    const routes = translation.routing.hosts
      .filter(({ group }) => group === "gateway")
      .flatMap(({ value }) => value.routes);
    expect(routes).to.have.lengthOf(8 * 16 * 64);
    for (const { features, backends } of routes) {
      expect(features).to.equal(undefined);
      expect(backends[0]?.status).to.equal(500);
    }
    const [status] = translation.gatewayStatuses.routes;
    expect(JSON.stringify(status)).to.include("UnsupportedValue").and.to.include("more than 8 MiB");
  });

  it("an HTTPRoute just below the size limit is served", () => {
    const { routing, diagnostics } = run(...gatewayObjects(20));
    expect(routing.hosts.flatMap(({ value }) => value.routes)).to.have.lengthOf(8 * 16 * 64);
    expect(JSON.stringify(diagnostics)).to.not.include("MiB");
  });

  it("the regular expressions of one Ingress are compiled up to the limit of an object, the others are rejected", () => {
    const annotations = { "ingress.svc-labs.dev/use-regex": "true" };
    const paths = Array.from({ length: 3000 }, (_, index) => ({
      ...path(`/${index}${"((a{10}){10}){10}".repeat(5)}`),
      pathType: "ImplementationSpecific",
    }));
    const { routing, diagnostics } = run(
      ingress({ annotations, spec: { rules: [{ host: "a.example.com", http: { paths } }] } }),
      neighbour,
    );
    expect(routing.hosts[0]?.value.routes).to.have.lengthOf(8);
    expect(routing.hosts[1]?.value.routes).to.have.lengthOf(1);
    const refused = diagnostics.filter(({ reason }) => reason === "InvalidPath");
    expect(refused).to.have.lengthOf(2992);
    expect(refused[0]?.message).to.include("are too large together");
  });

  it("an Ingress of 500 ordinary regular expressions is served", () => {
    const annotations = { "ingress.svc-labs.dev/use-regex": "true" };
    const paths = Array.from({ length: 500 }, (_, index) => ({
      ...path(`/api/v[0-9]+/r${index}/(users|orders)/[a-z0-9-]+$`),
      pathType: "ImplementationSpecific",
    }));
    const { routing } = run(
      ingress({ annotations, spec: { rules: [{ host: "a.example.com", http: { paths } }] } }),
    );
    expect(routing.hosts[0]?.value.routes).to.have.lengthOf(500);
  });

  it("a certificate chain of more than 32 certificates is rejected", () => {
    const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".repeat(1000);
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "shop", name: "cert" },
      type: "kubernetes.io/tls",
      data: {
        "tls.crt": Buffer.from(pem).toString("base64"),
        "tls.key": Buffer.from(key).toString("base64"),
      },
    };
    const { diagnostics } = run(secret, ingress({ spec: { tls: [{ secretName: "cert" }] } }));
    expect(diagnostics[0]?.message).to.include("more than 32 certificates");
  });
});

const key = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIIyGFYx23J+wacYtLIjUjjnH6x88n67QBy3InBftQJdI
-----END PRIVATE KEY-----
`;
