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
  it("does not carry a 10 MB annotation anywhere", () => {
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

  it("serves thousands of rules and paths of one Ingress", () => {
    const rules = Array.from({ length: 3000 }, (_, rule) => ({
      host: `h${rule % 1000}.example.com`,
      http: { paths: [path(`/p${rule}`), path(`/q${rule}`)] },
    }));
    const { routing, diagnostics } = run(ingress({ spec: { rules } }));
    expect(routing.hosts).to.have.lengthOf(1000);
    expect(routing.hosts.flatMap(({ value }) => value.routes)).to.have.lengthOf(6000);
    expect(diagnostics.map(({ reason }) => reason)).to.deep.equal(["ServiceNotFound"]);
  });

  it("tells thousands of losers of one path who won", () => {
    const spec = { rules: [{ host: "a.example.com", http: { paths: [path("/")] } }] };
    const losers = Array.from({ length: 3000 }, (_, index) => ingress({ name: `i${index + 1000}`, spec }));
    const { conflicts, events } = run(...losers);
    expect(conflicts).to.have.lengthOf(2999);
    expect(events.every(({ message }) => message.endsWith("is shadowed by shop/i1000"))).to.equal(true);
  });

  it("names the winner even when the path is longer than a message", () => {
    const spec = { rules: [{ host: "a.example.com", http: { paths: [path(`/${"p".repeat(5000)}`)] } }] };
    const { events } = run(ingress({ name: "a", spec }), ingress({ name: "b", spec }));
    expect(events[0]?.message).to.match(
      /^Route on host a\.example\.com path "\/p+\.\.\." is shadowed by shop\/a$/,
    );
  });

  it("refuses a chain of more certificates than any real one has", () => {
    const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".repeat(10_000);
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
