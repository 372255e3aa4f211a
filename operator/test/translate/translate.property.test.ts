import { createSnapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { decodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import fc from "fast-check";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld, emptyWorld, updateWorld, type World } from "../../src/world.ts";
import * as arbitrary from "./arbitrary.ts";

const nowMs = Date.parse("2030-01-01T00:00:00Z");

/** The same world and settings as objects that nothing can be remembered for. */
const fromScratch = (world: World, settings: TranslateSettings) =>
  translate(structuredClone(world), { ...settings }, { nowMs });

describe("translate: properties", () => {
  it("gives after any edits what it gives from scratch", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(arbitrary.change, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 12 }),
        arbitrary.settings,
        (edits, settings) => {
          let world = emptyWorld;
          for (const edit of edits) {
            world = updateWorld(world, edit);
            expect(translate(world, settings, { nowMs })).to.deep.equal(fromScratch(world, settings));
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("gives a snapshot that decodes and whose references hold", () => {
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

  it("does not depend on the order in which objects came", () => {
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

  it("survives whatever stands in place of a spec, and serves the neighbours as before", () => {
    const isHealthy = ({ key }: Resource): boolean => key.includes("healthy");
    const neighbours = createWorld(readManifests(neighbourManifests));
    const served = translate(neighbours, defaultTranslateSettings).scopes.shared.filter(isHealthy);
    expect(served).to.have.lengthOf(3);
    fc.assert(
      fc.property(fc.constantFrom(...brokenHeads), fc.jsonValue(), fc.jsonValue(), (head, one, other) => {
        const broken = { ...head, spec: one, data: other, endpoints: other, ports: one };
        const world = updateWorld(neighbours, [{ type: "apply", object: broken }]);
        const { scopes } = translate(world, defaultTranslateSettings);
        expect(scopes.shared.filter(isHealthy)).to.deep.equal(served);
      }),
      { numRuns: 500 },
    );
  });
});

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace}/${metadata.name}`;

const readManifests = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);

/** Objects that an Ingress beside the healthy one names, and another Ingress; their contents are made up. */
const brokenHeads = readManifests(`
{ apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: { name: broken, namespace: shop, annotations: { kubernetes.io/ingress.class: svc } } }
---
{ apiVersion: v1, kind: Service, metadata: { name: broken, namespace: shop } }
---
{ apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: { name: broken, namespace: shop, labels: { kubernetes.io/service-name: ready } } }
---
{ apiVersion: v1, kind: Secret, type: kubernetes.io/tls, metadata: { name: broken, namespace: shop } }
`);

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
apiVersion: v1
kind: Service
metadata: { name: ready, namespace: shop }
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
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: beside, namespace: shop }
spec:
  ingressClassName: svc
  tls: [{ hosts: [beside.example.com], secretName: broken }]
  rules:
    - host: beside.example.com
      http:
        paths:
          - { path: /a, pathType: Prefix, backend: { service: { name: broken, port: { number: 80 } } } }
          - { path: /b, pathType: Prefix, backend: { service: { name: ready, port: { number: 80 } } } }
`;
