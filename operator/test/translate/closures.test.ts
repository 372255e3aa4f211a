import { expect } from "chai";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { createStandIn, type AttachingKind, type ClosedTarget } from "../../src/api/stand-in.ts";
import { validateObject } from "../../src/api/validate.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld, updateWorld, type World } from "../../src/world.ts";

const manifest = (apiVersion: string, kind: string, name: string, spec: object): KubeObject => {
  const read = validateObject({ apiVersion, kind, metadata: { name }, ...spec });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value.object;
};

const api = "gateway.networking.k8s.io";
const parentRefs = [{ name: "gw" }];
const backendRefs = [{ name: "web", port: 80 }];

const objects: readonly KubeObject[] = [
  manifest(`${api}/v1`, "GatewayClass", "svc", {
    spec: { controllerName: "svc-labs.dev/gateway-controller" },
  }),
  manifest(`${api}/v1`, "Gateway", "gw", {
    spec: {
      gatewayClassName: "svc",
      allowedListeners: { namespaces: { from: "Same" } },
      listeners: [
        { name: "a", port: 80, protocol: "HTTP", hostname: "a.example.com" },
        { name: "b", port: 80, protocol: "HTTP", hostname: "b.example.com" },
        { name: "c", port: 81, protocol: "HTTP", hostname: "c.example.com" },
        { name: "tcp", port: 90, protocol: "TCP" },
        { name: "udp", port: 91, protocol: "UDP" },
      ],
    },
  }),
  manifest(`${api}/v1`, "ListenerSet", "set", {
    spec: {
      parentRef: { name: "gw" },
      listeners: [{ name: "d", port: 82, protocol: "HTTP", hostname: "d.example.com" }],
    },
  }),
  manifest(`${api}/v1`, "HTTPRoute", "web", {
    spec: {
      parentRefs: [...parentRefs, { kind: "ListenerSet", name: "set" }],
      hostnames: ["a.example.com", "b.example.com", "c.example.com", "d.example.com"],
      rules: [{ backendRefs }],
    },
  }),
  manifest(`${api}/v1alpha2`, "TCPRoute", "tcp", { spec: { parentRefs, rules: [{ backendRefs }] } }),
  manifest(`${api}/v1alpha2`, "UDPRoute", "udp", {
    spec: { parentRefs, rules: [{ backendRefs: [{ name: "web", port: 53 }] }] },
  }),
  manifest("v1", "Service", "web", {
    spec: {
      ports: [
        { name: "main", port: 80 },
        { name: "dns", port: 53, protocol: "UDP" },
      ],
    },
  }),
  manifest("discovery.k8s.io/v1", "EndpointSlice", "web", {
    metadata: { name: "web", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    ports: [
      { name: "main", port: 8080 },
      { name: "dns", port: 5353, protocol: "UDP" },
    ],
    endpoints: [{ addresses: ["10.0.0.1"] }],
  }),
];

const settings: TranslateSettings = { ...defaultTranslateSettings, ingressEnabled: false };

const standIn = (kind: AttachingKind, ...targets: readonly ClosedTarget[]): KubeObject =>
  createStandIn({
    kind,
    namespace: "default",
    name: "p",
    creationTimestamp: undefined,
    targets,
    problems: ["spec: Required value"],
  });

/**
 * The names of everything that is open: hosts by their first letter, `tcp`, `udp`, and the endpoints of the Service by
 * port.
 */
function openIn({ scopes, routing }: Translation): readonly string[] {
  const hosts = routing.hosts.flatMap(({ host, value }) =>
    (value as HostRoutes).routes.some(({ features }) => features?.["ext-auth"] === undefined)
      ? [host.host.slice(0, 1)]
      : [],
  );
  const carried = scopes.shared.flatMap(({ key, body }) =>
    key.startsWith("l4|") && body.includes('"route"') ? [key.split("|")[1] ?? ""] : [],
  );
  const endpoints = routing.endpoints.keys.filter(
    (name) => (findEntry(routing.endpoints, name)?.set.addresses ?? []).length > 0,
  );
  return [...new Set([...hosts, ...carried, ...endpoints.map((name) => name.slice("default/web/".length))])];
}

const everything = ["a", "b", "c", "d", "tcp", "udp", "53/udp", "80"];
const without = (...closed: readonly string[]): readonly string[] =>
  everything.filter((one) => !closed.includes(one));

const openWith = (...more: readonly KubeObject[]): readonly string[] =>
  openIn(translate(createWorld([...objects, ...more]), { ...settings }));

describe("the Ingresses of a class whose parameters are invalid", () => {
  type Annotations = Readonly<Record<string, string>>;
  const featuresWith = (
    defaultAnnotations: Annotations | undefined,
    annotations?: Annotations,
    ...more: readonly KubeObject[]
  ): unknown => {
    const world = createWorld([
      manifest("networking.k8s.io/v1", "IngressClass", "svc", {
        spec: {
          controller: "svc-labs.dev/gateway-controller",
          parameters: {
            apiGroup: "ingress.svc-labs.dev",
            kind: "SvcIngressClassParameters",
            scope: "Namespace",
            namespace: "default",
            name: "p",
          },
        },
      }),
      manifest("networking.k8s.io/v1", "Ingress", "web", {
        metadata: { name: "web", ...(annotations && { annotations }) },
        spec: { ingressClassName: "svc", defaultBackend: { service: { name: "web", port: { number: 80 } } } },
      }),
      createStandIn({
        kind: "SvcIngressClassParameters",
        namespace: "default",
        name: "p",
        creationTimestamp: undefined,
        targets: [],
        defaultAnnotations,
        problems: ["spec.accessLog: must be a boolean"],
      }),
      ...objects,
      ...more,
    ]);
    const { routing } = translate(world, { ...defaultTranslateSettings, gatewayApiEnabled: false });
    const [host] = routing.hosts;
    const { routes } = (host?.value ?? { routes: [] }) as HostRoutes;
    return routes[0]?.features;
  };

  it("Ingresses of a class with invalid parameters get the defaults that can be read", () => {
    expect(featuresWith({ "ingress.svc-labs.dev/auth-jwt": "default/none" })).to.deep.equal({
      "auth-jwt": [{}],
    });
    expect(featuresWith({})).to.equal(undefined);
  });

  it("Ingresses of a class whose defaults cannot be read are closed", () => {
    expect(featuresWith(undefined)).to.deep.equal({ "ext-auth": [{ required: true }] });
  });

  it("Ingresses of a class whose defaults cannot be read are not opened by another check that is enough", () => {
    const everyAddress = manifest("gateway.svc-labs.dev/v1alpha1", "IpAccessControl", "every", {
      spec: { allow: ["0.0.0.0/0", "::/0"] },
    });
    const annotations = {
      "ingress.svc-labs.dev/satisfy": "any",
      "ingress.svc-labs.dev/ip-access-control": "default/every",
    };
    const features = featuresWith(undefined, annotations, everyAddress);
    expect(features).to.have.all.keys("ip-access-control", "ext-auth");
    expect(features).to.deep.include({ "ext-auth": [{ required: true }] });
    expect(featuresWith({}, annotations, everyAddress)).to.include({ satisfy: "any" });
  });
});

describe("objects that an invalid object targets", () => {
  it("nothing is closed without an invalid object", () => {
    expect(openWith()).to.have.members(everything);
  });

  it("an invalid SvcExternalAuth closes the requests of its Gateway and of its ListenerSets", () => {
    expect(openWith(standIn("SvcExternalAuth", { kind: "Gateway", name: "gw" }))).to.have.members(
      without("a", "b", "c", "d"),
    );
  });

  it("an invalid ClientTrafficPolicy closes the requests and connections of its Gateway, but not its datagrams", () => {
    expect(openWith(standIn("ClientTrafficPolicy", { kind: "Gateway", name: "gw" }))).to.have.members(
      without("a", "b", "c", "d", "tcp"),
    );
  });

  it("an invalid ClientTrafficPolicy closes every listener on the port of the listener that it targets", () => {
    const target = { kind: "Gateway", name: "gw", sectionName: "a" } as const;
    expect(openWith(standIn("ClientTrafficPolicy", target))).to.have.members(without("a", "b"));
  });

  it("an invalid ClientTrafficPolicy closes the whole Gateway when the targeted listener does not exist", () => {
    const target = { kind: "Gateway", name: "gw", sectionName: "aa" } as const;
    expect(openWith(standIn("ClientTrafficPolicy", target))).to.have.members(
      without("a", "b", "c", "d", "tcp"),
    );
  });

  it("an invalid policy closes the endpoints of a Service, of all its ports or of the targeted one", () => {
    const web = { kind: "Service", name: "web" } as const;
    expect(openWith(standIn("SvcBackendPolicy", web))).to.have.members(without("80", "53/udp"));
    // Datagrams are never sent over TLS.
    expect(openWith(standIn("BackendTLSPolicy", web))).to.have.members(without("80"));
    expect(openWith(standIn("BackendTLSPolicy", { ...web, sectionName: "main" }))).to.have.members(
      without("80"),
    );
    expect(openWith(standIn("BackendTLSPolicy", { ...web, sectionName: "dns" }))).to.have.members(everything);
  });

  it("an invalid object closes a single ListenerSet or route that it targets", () => {
    expect(openWith(standIn("SvcExternalAuth", { kind: "ListenerSet", name: "set" }))).to.have.members(
      without("d"),
    );
    expect(openWith(standIn("SvcExternalAuth", { kind: "HTTPRoute", name: "web" }))).to.have.members(
      without("a", "b", "c", "d"),
    );
    expect(openWith(standIn("ClientTrafficPolicy", { kind: "TCPRoute", name: "tcp" }))).to.have.members(
      without("tcp"),
    );
  });

  it("an invalid object closes nothing in another namespace", () => {
    const elsewhere = createStandIn({
      kind: "SvcExternalAuth",
      namespace: "other",
      name: "p",
      creationTimestamp: undefined,
      targets: [{ kind: "Gateway", name: "gw" }],
      problems: ["spec.protocol: must be HTTP or GRPC"],
    });
    expect(openWith(elsewhere)).to.have.members(everything);
  });

  it("closed objects open again when the invalid object is corrected or deleted", () => {
    const kept = { ...settings };
    const change = (world: World, ...more: readonly KubeObject[]): World =>
      updateWorld(
        world,
        more.map((object) => ({ type: "apply", object })),
      );
    let world = createWorld(objects);
    expect(openIn(translate(world, kept))).to.have.members(everything);
    world = change(world, standIn("SvcBackendPolicy", { kind: "Service", name: "web" }));
    expect(openIn(translate(world, kept))).to.have.members(without("80", "53/udp"));
    expect(translate(world, kept).scopes).to.deep.equal(translate(world, { ...settings }).scopes);
    world = change(
      world,
      manifest("gateway.svc-labs.dev/v1alpha1", "SvcBackendPolicy", "p", {
        spec: { targetRefs: [{ name: "web" }] },
      }),
    );
    expect(openIn(translate(world, kept))).to.have.members(everything);
    world = change(world, standIn("ClientTrafficPolicy", { kind: "Gateway", name: "gw" }));
    expect(openIn(translate(world, kept))).to.have.members(without("a", "b", "c", "d", "tcp"));
    world = updateWorld(world, [
      { type: "delete", kind: "ClientTrafficPolicy", namespace: "default", name: "p" },
    ]);
    expect(openIn(translate(world, kept))).to.have.members(everything);
  });

  it("the finding on a closed object names the invalid object that closes it", () => {
    const { diagnostics } = translate(
      createWorld([...objects, standIn("SvcExternalAuth", { kind: "Gateway", name: "gw" })]),
      { ...settings },
    );
    expect(diagnostics.filter(({ reason }) => reason === "TargetClosed")).to.deep.equal([
      {
        object: { kind: "Gateway", namespace: "default", name: "gw" },
        severity: "error",
        reason: "TargetClosed",
        message:
          "SvcExternalAuth default/p, which targets this Gateway, is not valid; what it protects answers 503 or accepts no connections until it is",
      },
    ]);
  });
});
