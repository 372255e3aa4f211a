import { createSnapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { decodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, emptyWorld, updateWorld, type World } from "../../src/world.ts";
import * as arbitrary from "./arbitrary.ts";
import * as gateways from "./gateway/arbitrary.ts";

const nowMs = Date.parse("2030-01-01T00:00:00Z");

/** The same world and settings as objects that nothing can be remembered for. */
const fromScratch = (world: World, settings: TranslateSettings, ownPorts: OwnPorts = noOwnPorts) =>
  translate(structuredClone(world), { ...settings }, { nowMs, ownPorts });

describe("translate: properties", () => {
  it("a translation after any edits of Ingresses equals the one from scratch", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(arbitrary.change, { minLength: 1, maxLength: 4 }), arbitrary.ownPorts), {
          minLength: 2,
          maxLength: 12,
        }),
        arbitrary.settings,
        (edits, settings) => {
          let world = emptyWorld;
          for (const [edit, ownPorts] of edits) {
            world = updateWorld(world, edit);
            const translated = translate(world, settings, { nowMs, ownPorts });
            expect(translated).to.deep.equal(fromScratch(world, settings, ownPorts));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("a translation after any edits of Gateways, routes, policies and Ingresses equals the one from scratch", () => {
    const ofGateways = fc.array(gateways.change, { minLength: 1, maxLength: 6 });
    const ofIngresses = fc.array(arbitrary.change, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ arbitrary: ofGateways, weight: 4 }, ofIngresses), { minLength: 2, maxLength: 8 }),
        gateways.settings,
        (edits, settings) => {
          let world = updateWorld(emptyWorld, gateways.start);
          for (const edit of edits) {
            world = updateWorld(world, edit);
            expect(translate(world, settings, { nowMs })).to.deep.equal(fromScratch(world, settings));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("a translation that throws leaves nothing behind, and the next one equals the one from scratch", () => {
    fc.assert(
      fc.property(fc.array(arbitrary.change, { maxLength: 10 }), arbitrary.settings, (edits, settings) => {
        const world = updateWorld(emptyWorld, edits);
        const before = updateWorld(world, edits.slice(0, 2));
        translate(before, settings, { nowMs });
        const broken = { ...world, SvcBackendPolicy: undefined } as unknown as World;
        expect(() => translate(broken, settings, { nowMs })).to.throw();
        expect(translate(world, settings, { nowMs })).to.deep.equal(fromScratch(world, settings));
      }),
      { numRuns: 30 },
    );
  });

  it("the snapshot of a translation decodes, and its references to endpoints resolve", () => {
    fc.assert(
      fc.property(fc.array(arbitrary.object, { maxLength: 20 }), arbitrary.settings, (objects, settings) => {
        const { scopes } = translate(createWorld(objects), settings);
        const keys = new Set(scopes.shared.map(({ key }): string => key));
        expect(keys.size).to.equal(scopes.shared.length);
        for (const resource of scopes.shared) {
          const decoded = decodeResource(resource);
          if (!decoded.ok) expect.fail(decoded.error.message);
          if (decoded.value?.type !== "route") continue;
          for (const { endpoints, status } of decoded.value.value.routes.flatMap(
            ({ backends }) => backends,
          )) {
            expect(endpoints === undefined).to.equal(status !== undefined);
            if (endpoints !== undefined) expect(keys).to.include(`endpoints|${endpoints}`);
          }
        }
      }),
    );
  });

  it("the snapshot of a translation does not depend on the order of objects", () => {
    fc.assert(
      fc.property(fc.uniqueArray(arbitrary.object, { maxLength: 15, selector: nameOf }), (objects) => {
        const versions = [objects, objects.toReversed()].map(
          (order) =>
            createSnapshot(translate(createWorld(order), defaultTranslateSettings).scopes.shared).version,
        );
        expect(versions[0]).to.equal(versions[1]);
      }),
    );
  });

  it("a translation survives arbitrary JSON in any part of an object, and serves its neighbours unchanged", () => {
    const isHealthy = ({ key }: Resource): boolean => key.includes("healthy");
    const neighbours = createWorld(readManifests(neighbourManifests));
    const served = translate(neighbours, defaultTranslateSettings).scopes.shared.filter(isHealthy);
    expect(served).to.have.lengthOf(3);
    const broken = fc.constantFrom(...readManifests(victimManifests)).chain(breakSomewhere);
    fc.assert(
      fc.property(fc.array(broken, { minLength: 1, maxLength: 3 }), (objects) => {
        const world = updateWorld(
          neighbours,
          objects.map((object) => ({ type: "apply", object })),
        );
        const { scopes } = translate(world, defaultTranslateSettings, { nowMs });
        expect(scopes.shared.filter(isHealthy)).to.deep.equal(served);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Replaces one part of an object, except those that identify it, with any JSON. */
function breakSomewhere(object: KubeObject): fc.Arbitrary<KubeObject> {
  const parts = partsOf(object).filter(
    (path) => !["apiVersion", "kind", "metadata"].includes(path.join(".")),
  );
  const replaceable = parts.filter((path) => path[0] !== "metadata" || path[1] === "annotations");
  return fc.tuple(fc.constantFrom(...replaceable), fc.jsonValue()).map(([path, value]) => {
    const copy: unknown = structuredClone(object);
    let parent = copy as Record<string, unknown>;
    for (const step of path.slice(0, -1)) parent = parent[step] as Record<string, unknown>;
    parent[path.at(-1) ?? ""] = value;
    return copy as KubeObject;
  });
}

/** The path of every value inside a value. */
const partsOf = (value: unknown): readonly (readonly string[])[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, child]) => [
        [key],
        ...partsOf(child).map((rest) => [key, ...rest]),
      ]);

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

const readManifests = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);

/** Valid objects, parts of which the test breaks. The Ingress `beside` refers to them. */
const victimManifests = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: beside
  namespace: shop
  creationTimestamp: "2024-01-01T00:00:00Z"
  annotations: { ingress.svc-labs.dev/max-body-size: 1m }
spec:
  ingressClassName: svc
  defaultBackend: { service: { name: victim, port: { number: 80 } } }
  tls: [{ hosts: [beside.example.com], secretName: victim }]
  rules:
    - host: beside.example.com
      http:
        paths:
          - { path: /, pathType: Prefix, backend: { service: { name: victim, port: { name: http } } } }
---
apiVersion: v1
kind: Service
metadata: { name: victim, namespace: shop }
spec: { type: ClusterIP, ipFamilies: [IPv4], ports: [{ name: http, port: 80, targetPort: 8080, appProtocol: http }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: victim-1, namespace: shop, labels: { kubernetes.io/service-name: victim } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: [10.0.0.1], conditions: { ready: true } }]
---
apiVersion: v1
kind: Secret
metadata: { name: victim, namespace: shop }
type: kubernetes.io/tls
data: { tls.crt: "", tls.key: "" }
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: { name: broken }
spec:
  controller: svc-labs.dev/gateway-controller
  parameters: { apiGroup: ingress.svc-labs.dev, kind: SvcIngressClassParameters, scope: Namespace, namespace: shop, name: victim }
---
apiVersion: gateway.networking.k8s.io/v1
kind: ReferenceGrant
metadata: { name: victim, namespace: shop }
spec: { from: [{ group: networking.k8s.io, kind: Ingress, namespace: blog }], to: [{ group: "", kind: Secret }] }
---
apiVersion: ingress.svc-labs.dev/v1alpha1
kind: SvcIngressClassParameters
metadata: { name: victim, namespace: shop }
spec: { accessLog: false, defaultAnnotations: { ingress.svc-labs.dev/max-body-size: 1m } }
`;

const neighbourManifests = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: { name: svc }
spec: { controller: svc-labs.dev/gateway-controller }
---
apiVersion: v1
kind: Service
metadata: { name: healthy, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: healthy, namespace: shop }
spec:
  ingressClassName: svc
  rules:
    - host: healthy.example.com
      http:
        paths:
          - { path: /, pathType: Prefix, backend: { service: { name: healthy, port: { number: 80 } } } }
---
${victimManifests}
`;
