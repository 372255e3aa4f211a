import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld, emptyWorld, updateWorld } from "../../../src/world.ts";

const ourClass: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "svc" },
  ...{ spec: { controller: "svc-labs.dev/gateway-controller" } },
};

type Size = {
  readonly namespace: string;
  readonly name?: string;
  readonly ports?: number;
  readonly slices?: number;
  readonly endpoints?: number;
  readonly isReady?: boolean;
};

const sliceOf = (
  { namespace, name = "echo", ports = 1, endpoints = 1, isReady = true }: Size,
  index: number,
): KubeObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace, name: `${name}-${index}`, labels: { "kubernetes.io/service-name": name } },
  ...{
    addressType: "IPv4",
    ports: Array.from({ length: ports }, (_, port) => ({
      name: `p${port}`,
      port: 8000 + port,
      protocol: "TCP",
    })),
    endpoints: Array.from({ length: endpoints }, (_, at) => ({
      addresses: [`10.${index}.${at >> 8}.${at & 255}`],
      conditions: { ready: isReady },
    })),
  },
});

/** A Service, its EndpointSlices, and an Ingress that sends to all of its ports. */
function serviceOf(size: Size): readonly KubeObject[] {
  const { namespace, name = "echo", ports = 1, slices = 1 } = size;
  const numbers = Array.from({ length: ports }, (_, port) => port);
  const paths = numbers.map((port) => ({
    path: `/${port}`,
    pathType: "Prefix",
    backend: { service: { name, port: { name: `p${port}` } } },
  }));
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace, name },
      ...{ spec: { ports: numbers.map((port) => ({ name: `p${port}`, port: 100 + port })) } },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { namespace, name },
      ...{
        spec: {
          ingressClassName: "svc",
          rules: [{ host: `${name}.${namespace}.example.com`, http: { paths } }],
        },
      },
    },
    ...Array.from({ length: slices }, (_, index) => sliceOf(size, index)),
  ];
}

const run = (objects: readonly KubeObject[], settings: TranslateSettings = defaultTranslateSettings) =>
  translate(createWorld([ourClass, ...objects]), settings);

const countOf = ({ routing }: ReturnType<typeof run>, service: string): number =>
  routing.endpoints.values
    .filter(({ set }) => set.service === service)
    .reduce((sum, { set }) => sum + set.addresses.length, 0);

describe("translate: endpoints of a Service with many ports", () => {
  const honest = serviceOf({ namespace: "shop", ports: 2, slices: 5, endpoints: 1000 });

  it("a Service of 5,000 endpoints on two ports and one of 1,000 on twenty ports are served", () => {
    const wide = serviceOf({ namespace: "blog", ports: 20, endpoints: 1000 });
    const translated = run([...honest, ...wide]);
    expect(countOf(translated, "shop/echo")).to.equal(10_000);
    expect(countOf(translated, "blog/echo")).to.equal(20_000);
    expect(translated.diagnostics).to.deep.equal([]);
  });

  it("endpoints that many ports multiply beyond the limit are left out, and no other Service loses one", () => {
    const translated = run([
      ...honest,
      ...serviceOf({ namespace: "team", ports: 100, slices: 5, endpoints: 1000 }),
    ]);
    const bytes = translated.scopes.shared
      .filter(({ key }) => key.startsWith("endpoints|team/"))
      .reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes, "bytes of the endpoints").to.be.below(10_000);
    expect(countOf(translated, "shop/echo")).to.equal(10_000);
    const reported = translated.diagnostics.filter(({ reason }) => reason === "EndpointsLeftOut");
    expect(reported).to.have.lengthOf(1);
    expect(reported[0]).to.deep.include({
      object: { kind: "Service", namespace: "team", name: "echo" },
      severity: "error",
    });
    const events = translated.events.filter(({ reason }) => reason === "NotServed");
    expect(events.map(({ object }) => object)).to.deep.equal([reported[0]?.object]);
  });

  it("endpoints are left out of the largest namespace when all Services together exceed the limit", () => {
    const services = Array.from({ length: 6 }, (_, index) =>
      serviceOf({ namespace: "team", name: `s${index}`, ports: 100, endpoints: 1000 }),
    );
    const translated = run([...honest, ...services.flat()]);
    const served = services.filter((_, index) => countOf(translated, `team/s${index}`) > 0);
    expect(served).to.have.lengthOf(4);
    expect(countOf(translated, "shop/echo")).to.equal(10_000);
  });

  it("endpoints that were left out are served again when there is room, independent of readiness", () => {
    const settings = { ...defaultTranslateSettings, maxEndpointBytes: 36 * 10 };
    const of = (endpoints: number, isReady: boolean): KubeObject =>
      sliceOf({ namespace: "team", endpoints, isReady }, 0);
    let world = updateWorld(
      emptyWorld,
      [
        ourClass,
        ...serviceOf({ namespace: "team", endpoints: 8 }),
        ...serviceOf({ namespace: "shop", endpoints: 3 }),
      ].map((object) => ({ type: "apply", object })),
    );
    const after = (endpoints: number, isReady: boolean): readonly number[] => {
      world = updateWorld(world, [{ type: "apply", object: of(endpoints, isReady) }]);
      const translated = translate(world, settings);
      return [countOf(translated, "team/echo"), countOf(translated, "shop/echo")];
    };
    expect(after(8, true)).to.deep.equal([0, 3]);
    expect(after(8, false)).to.deep.equal([0, 3]);
    expect(after(7, true)).to.deep.equal([7, 3]);
    expect(after(8, true)).to.deep.equal([0, 3]);
    world = updateWorld(world, [{ type: "delete", kind: "Ingress", namespace: "shop", name: "echo" }]);
    expect(countOf(translate(world, settings), "team/echo"), "unused ports take nothing").to.equal(8);
  });
});
