import { readFileSync } from "node:fs";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../src/api/object.ts";
import { validateObject } from "../../../src/api/validate.ts";
import { defaultTranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import type { Translation } from "../../../src/translate/translation.ts";
import { createWorld, updateWorld, type World } from "../../../src/world.ts";

const created = (day: number): string => `2030-01-${String(day).padStart(2, "0")}T00:00:00Z`;

const group = "gateway.networking.k8s.io/v1";

const classes: readonly KubeObject[] = [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    ...{ spec: { controller: "svc-labs.dev/gateway-controller" } },
  },
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
    ...{
      spec: {
        gatewayClassName: "svc",
        listeners: [
          { name: "http", port: 8000, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } },
        ],
      },
    },
  },
];

type IngressParts = {
  readonly namespace: string;
  readonly name: string;
  readonly host: string;
  readonly day?: number;
  readonly paths?: number;
  /** Bytes of a header that each path carries. */
  readonly header?: number;
};

const ingress = ({ namespace, name, host, day = 1, paths = 1, header = 0 }: IngressParts): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: {
    namespace,
    name,
    creationTimestamp: created(day),
    annotations:
      header === 0 ? {} : { "ingress.svc-labs.dev/response-header-set": `X-Large: ${"v".repeat(header)}` },
  },
  ...{
    spec: {
      ingressClassName: "svc",
      rules: [
        {
          host,
          http: {
            paths: Array.from({ length: paths }, (_, index) => ({
              path: `/p${index}`,
              pathType: "Prefix",
              backend: { service: { name: "missing", port: { number: 80 } } },
            })),
          },
        },
      ],
    },
  },
});

const httpRoute = (namespace: string, name: string, host: string, header: number, day = 1): KubeObject => ({
  apiVersion: group,
  kind: "HTTPRoute",
  metadata: { namespace, name, creationTimestamp: created(day) },
  ...{
    spec: {
      parentRefs: [{ name: "web", namespace: "shop" }],
      hostnames: [host],
      rules: [
        {
          matches: [{ path: { type: "PathPrefix", value: "/a" } }],
          filters: [
            {
              type: "ResponseHeaderModifier",
              responseHeaderModifier: { set: [{ name: "X-Large", value: "v".repeat(header) }] },
            },
          ],
        },
      ],
    },
  },
});

const settings = { ...defaultTranslateSettings, maxScopeBytes: 100_000 };
const run = (world: World, given = settings) => translate(world, given);
const worldOf = (...objects: readonly KubeObject[]): World => createWorld([...classes, ...objects]);

type Translated = ReturnType<typeof run>;

const answersOf = ({ routing }: Translated, host: string) =>
  routing.hosts
    .filter((served) => served.host.host === host)
    .flatMap(({ value }) => value.routes)
    .map(({ match, backends, features }) => ({
      path: match.path.value,
      status: backends[0]?.status,
      hasFeatures: features !== undefined,
    }));
const sizeOf = ({ scopes }: Translated): number =>
  scopes.shared.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);

const notServed = ({ events }: Translation): Translation["events"] =>
  events.filter(({ reason }) => reason === "NotServed");

describe("a full snapshot", () => {
  const large = (name: string, day: number): KubeObject =>
    ingress({ namespace: "team", name, host: `${name}.example.com`, day, paths: 4, header: 4000 });
  const others = [
    ingress({ namespace: "shop", name: "shop", host: "shop.example.com", header: 4000 }),
    httpRoute("shop", "route", "route.example.com", 4000),
  ];

  it("a full snapshot leaves out the newest Ingresses of the largest namespace only, and they answer 503", () => {
    const translation = run(worldOf(...others, large("a", 1), large("b", 2), large("c", 3), large("d", 4)));
    const leftOut = ["c", "d"].map((name) => `Ingress team/${name}`);
    expect(
      translation.diagnostics
        .filter(({ reason }) => reason === "SnapshotFull")
        .map(({ object: { kind, namespace, name } }) => `${kind} ${namespace}/${name}`),
    ).to.deep.equal(leftOut);
    expect(
      translation.events
        .filter(({ reason }) => reason === "NotServed")
        .map(({ object: { kind, namespace, name } }) => `${kind} ${namespace}/${name}`),
    ).to.deep.equal(leftOut);
    for (const name of ["c", "d"]) {
      expect(answersOf(translation, `${name}.example.com`)).to.deep.equal(
        [0, 1, 2, 3].map((index) => ({ path: `/p${index}`, status: 503, hasFeatures: false })),
      );
    }
    for (const host of ["a.example.com", "shop.example.com", "route.example.com"]) {
      expect(answersOf(translation, host)[0]?.hasFeatures, host).to.equal(true);
    }
    expect(sizeOf(translation)).to.be.below(100_000 + 10_000);
  });

  it("a full snapshot does not depend on history, and holds everything again when there is room", () => {
    const objects = [...others, large("a", 1), large("b", 2), large("c", 3)];
    let world = worldOf(...objects);
    const first = run(world);
    expect(notServed(first).map(({ object }) => object.name)).to.deep.equal(["c"]);
    world = updateWorld(world, [{ type: "apply", object: large("0", 9) }]);
    expect(run(world)).to.deep.equal(translate(structuredClone(world), { ...settings }));
    world = updateWorld(world, [
      { type: "delete", kind: "Ingress", namespace: "team", name: "0" },
      { type: "delete", kind: "Ingress", namespace: "team", name: "a" },
    ]);
    const last = run(world);
    expect(notServed(last)).to.deep.equal([]);
    expect(answersOf(last, "c.example.com")[0]?.hasFeatures).to.equal(true);
    expect(last).to.deep.equal(translate(structuredClone(world), { ...settings }));
  });

  it("a full snapshot leaves out HTTPRoutes, which answer 503 and say so in their status", () => {
    const routes = Array.from({ length: 6 }, (_, index) =>
      httpRoute("team", `r${index}`, `r${index}.example.com`, 20_000, index + 1),
    );
    const translation = run(worldOf(...others, ...routes));
    expect(notServed(translation).map(({ object }) => `${object.kind} ${object.name}`)).to.deep.equal([
      "HTTPRoute r4",
      "HTTPRoute r5",
    ]);
    expect(answersOf(translation, "r5.example.com")).to.deep.equal([
      { path: "/a", status: 503, hasFeatures: false },
    ]);
    const status = translation.gatewayStatuses.routes.find(({ object }) => object.metadata.name === "r5");
    expect(JSON.stringify(status)).to.include("UnsupportedValue").and.to.include("is full");
    expect(answersOf(translation, "r3.example.com")[0]?.hasFeatures).to.equal(true);
  });

  it("an Ingress that is large by its matches keeps its hosts at 503, and other Ingresses keep their paths", () => {
    const many = ingress({ namespace: "team", name: "many", host: "team.example.com", day: 1, paths: 2000 });
    const beside = ingress({ namespace: "shop", name: "beside", host: "team.example.com", day: 2 });
    const translation = run(worldOf(many, beside));
    const answers = answersOf(translation, "team.example.com");
    expect(answers.map(({ path }) => path)).to.deep.equal(["/p0", "/"]);
    const routes = translation.routing.hosts.find(({ host }) => host.host === "team.example.com")?.value
      .routes;
    expect(routes?.map(({ source }) => source.name)).to.deep.equal(["beside", "many"]);
    expect(routes?.[1]?.fallback).to.equal(true);
    expect(routes?.[1]?.backends[0]?.status).to.equal(503);
    expect(translation.conflicts).to.deep.equal([]);
  });

  it("the size of an Ingress is counted on each port that serves it", () => {
    const parts = { namespace: "team", name: "one", host: "a.example.com", paths: 128, header: 60_000 };
    const world = worldOf(ingress(parts), ...others);
    const onOne = run(world, { ...defaultTranslateSettings, ingressHttpsPort: 0 });
    expect(answersOf(onOne, "a.example.com")[0]?.hasFeatures).to.equal(true);
    const onTwo = run(world, { ...defaultTranslateSettings });
    expect(answersOf(onTwo, "a.example.com")[0]).to.deep.equal({
      path: "/p100",
      status: 503,
      hasFeatures: false,
    });
    expect(onTwo.diagnostics.map(({ reason }) => reason)).to.include("RoutesTooLarge");
    expect(notServed(onTwo).map(({ reason, object }) => `${reason} ${object.name}`)).to.deep.equal([
      "NotServed one",
    ]);
  });

  it("the translation reports the size of each namespace in each scope", () => {
    const { sizes, scopes } = run(worldOf(...others, large("a", 1)), defaultTranslateSettings);
    const shared = sizes.get("shared") ?? [];
    expect(shared.map(({ namespace }) => namespace).sort()).to.deep.equal(["shop", "team"]);
    const estimated = shared.reduce((sum, { bytes }) => sum + bytes, 0);
    const real = scopes.shared.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    expect(estimated).to.be.within(real * 0.8, real * 1.3);
  });

  describe("with certificates of Gateways", () => {
    const testdata = new URL("../testdata/", import.meta.url);
    const secretOf = (file: string): KubeObject => {
      for (const document of parseAllDocuments(readFileSync(new URL(file, testdata), "utf8"))) {
        const valid = validateObject(document.toJS());
        if (!valid.ok || valid.value.object.kind !== "Secret") continue;
        return { ...valid.value.object, metadata: { name: "cert", namespace: "team" } };
      }
      throw new Error("no Secret");
    };
    const gateway = (name: string, day: number, ports: number): KubeObject => ({
      apiVersion: group,
      kind: "Gateway",
      metadata: { namespace: "team", name, creationTimestamp: created(day) },
      ...{
        spec: {
          gatewayClassName: "svc",
          listeners: Array.from({ length: ports }, (_, index) => ({
            name: `l${index}`,
            port: 9000 + day * 100 + index,
            protocol: "HTTPS",
            hostname: `${name}.example.com`,
            tls: { certificateRefs: [{ name: "cert" }] },
          })),
        },
      },
    });
    const secret = secretOf("gateway-with-overlapping-certificates.in.yaml");
    it("client certificate authorities are counted on each port, and no client is let in where they are too large", () => {
      const [ca] = parseAllDocuments(
        readFileSync(new URL("gateway-with-frontend-validation.in.yaml", testdata), "utf8"),
      )
        .map((document) => document.toJS() as { kind?: string; data?: { "ca.crt"?: string } })
        .filter(({ kind, data }) => kind === "ConfigMap" && data?.["ca.crt"] !== undefined);
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "team", name: "ca" } };
      const bundle: KubeObject = { ...map, ...{ data: { "ca.crt": ca?.data?.["ca.crt"] } } };
      const dependent = gateway("asking", 1, 3);
      const spec = (dependent as { spec?: object }).spec;
      const refs = [{ group: "", kind: "ConfigMap", name: "ca" }];
      const frontend = { default: { validation: { caCertificateRefs: refs } } };
      const objects = [secret, bundle, { ...dependent, ...{ spec: { ...spec, tls: { frontend } } } }];
      const clients = ({ routing }: Translated) =>
        [...routing.clientCerts.values()].map(({ authorities, hosts }) => [
          Object.keys(authorities).length,
          hosts.map(({ mode, authorities: id }) => [mode, id === undefined]),
        ]);
      const all = run(worldOf(...objects), defaultTranslateSettings);
      expect(clients(all)).to.deep.equal([1, 2, 3].map(() => [1, [["require", false]]]));
      const bytes = all.sizes.get("shared")?.find(({ namespace }) => namespace === "team")?.bytes ?? 0;
      const plain = run(worldOf(secret, dependent), defaultTranslateSettings);
      const before = plain.sizes.get("shared")?.find(({ namespace }) => namespace === "team")?.bytes ?? 0;
      const text = Object.values([...all.routing.clientCerts.values()][0]?.authorities ?? {})[0] ?? "";
      expect(text).to.not.equal("");
      expect(bytes - before).to.equal(3 * text.length);
      const few = run(worldOf(...objects), { ...settings, maxScopeBytes: bytes - 1 });
      expect(clients(few)).to.deep.equal([1, 2, 3].map(() => [0, [["require", true]]]));
      expect(offered(few)).to.deep.equal([]);
    });

    it("the client certificates of Gateways for backends are counted, and the newest is left out when they are too large", () => {
      const showing = (name: string, day: number): KubeObject => {
        const one = gateway(name, day, 0);
        const { spec } = one as { spec?: object };
        return {
          ...one,
          ...{ spec: { ...spec, tls: { backend: { clientCertificateRef: { name: "cert" } } } } },
        };
      };
      const objects = [secret, showing("old", 1), showing("new", 2)];
      const shown = ({ scopes }: Translated): readonly (readonly [string, boolean])[] =>
        scopes.shared.flatMap((resource) => {
          const decoded = decodeResource(resource);
          if (!decoded.ok || decoded.value?.type !== "backendcert") return [];
          return [[resource.key, decoded.value.value.certificate !== undefined]];
        });
      const all = run(worldOf(...objects), defaultTranslateSettings);
      expect(shown(all)).to.have.deep.members([
        ["backendcert|team/old", true],
        ["backendcert|team/new", true],
      ]);
      const bytes = all.sizes.get("shared")?.find(({ namespace }) => namespace === "team")?.bytes ?? 0;
      const few = run(worldOf(...objects), { ...settings, maxScopeBytes: bytes - 1 });
      expect(shown(few)).to.have.deep.members([
        ["backendcert|team/old", true],
        ["backendcert|team/new", false],
      ]);
      expect(few.events.map(({ reason, object }) => `${reason} ${object.name}`)).to.deep.equal([
        "NotServed new",
      ]);
    });

    const offered = ({ routing }: Translated): readonly number[] =>
      [...routing.tls].filter(([, { hosts }]) => hosts.length > 0).map(([port]) => port);

    it("certificates are counted on each port, and those of the newest Gateway of the largest namespace are left out", () => {
      const objects = [secret, gateway("old", 1, 3), gateway("new", 2, 3)];
      const all = run(worldOf(...others, ...objects), defaultTranslateSettings);
      expect(offered(all)).to.have.length(6);
      const [largest] = all.sizes.get("shared") ?? [];
      expect(largest?.namespace).to.equal("shop");
      const ofTeam = all.sizes.get("shared")?.find(({ namespace }) => namespace === "team")?.bytes ?? 0;
      const few = run(worldOf(...objects), { ...settings, maxScopeBytes: ofTeam - 1 });
      expect(offered(few)).to.deep.equal([9100, 9101, 9102]);
      expect(few.events.map(({ reason, object }) => `${reason} ${object.kind} ${object.name}`)).to.deep.equal(
        ["NotServed Gateway new"],
      );
      expect(few.diagnostics.map(({ reason }) => reason)).to.include("SnapshotFull");
    });
  });
});
