import { expect } from "chai";
import fc from "fast-check";
import type { KubeObject } from "../src/api/object.ts";
import {
  createLookup,
  createWorld,
  emptyWorld,
  endpointSlicesOf,
  updateWorld,
  type WorldChange,
} from "../src/world.ts";

const service = (namespace: string, name: string, revision = "1"): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name, resourceVersion: revision },
});

const slice = (name: string, serviceName: string | undefined): KubeObject => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: {
    namespace: "shop",
    name,
    ...(serviceName !== undefined && { labels: { "kubernetes.io/service-name": serviceName } }),
  },
});

const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

describe("world", () => {
  it("the objects of a kind are sorted by namespace, then name", () => {
    const world = createWorld([service("b", "a"), service("a-b", "x"), service("a", "z"), service("a", "b")]);
    expect(namesOf(world.Service)).to.deep.equal(["a/b", "a/z", "a-b/x", "b/a"]);
    expect(world.Ingress).to.deep.equal([]);
  });

  it("the later of two objects with one name is kept, and objects of unknown kinds are left out", () => {
    const later = service("a", "x", "2");
    const unknown = {
      apiVersion: "example.com/v1",
      kind: "Service",
      metadata: { namespace: "a", name: "x" },
    };
    const world = createWorld([service("a", "x"), later, unknown]);
    expect(world.Service).to.have.lengthOf(1);
    expect(world.Service[0]).to.equal(later);
  });

  it("a list that a change does not affect keeps its identity", () => {
    const known = service("a", "x");
    const world = createWorld([known, slice("s", "x")]);
    const next = updateWorld(world, [{ type: "apply", object: service("a", "x", "2") }]);
    expect(next.EndpointSlice).to.equal(world.EndpointSlice);
    expect(next.Service).not.to.equal(world.Service);
    expect(updateWorld(world, [{ type: "apply", object: known }])).to.equal(world);
    expect(updateWorld(world, [{ type: "delete", kind: "Service", namespace: "a", name: "y" }])).to.equal(
      world,
    );
    expect(updateWorld(world, [{ type: "delete", kind: "Namespace", name: "y" }])).to.equal(world);
  });

  it("the changes of an update are applied in their order", () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const change = fc.oneof(
      fc.tuple(name, name, fc.nat().map(String)).map(([namespace, one, revision]): WorldChange => ({
        type: "apply",
        object: service(namespace, one, revision),
      })),
      fc
        .tuple(name, name)
        .map(([namespace, one]): WorldChange => ({ type: "delete", kind: "Service", namespace, name: one })),
    );
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 6 }), (batches) => {
        const model = new Map<string, KubeObject>();
        let world = emptyWorld;
        for (const batch of batches) {
          world = updateWorld(world, batch);
          for (const one of batch) {
            if (one.type === "apply") model.set(namesOf([one.object])[0] ?? "", one.object);
            else model.delete(`${one.namespace}/${one.name}`);
          }
        }
        const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
        expect(world.Service).to.deep.equal(expected);
      }),
    );
  });

  it("an object is found by kind, namespace and name", () => {
    const found = service("a", "x");
    const cluster = { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } };
    const lookup = createLookup(createWorld([found, service("a", "y"), cluster]));
    expect(lookup("Service", "a", "x")).to.equal(found);
    expect(lookup("Namespace", "", "a")).to.equal(cluster);
    expect(lookup("Service", "b", "x")).to.equal(undefined);
    expect(lookup("Ingress", "a", "x")).to.equal(undefined);
  });

  it("the EndpointSlices of a Service are found by their label", () => {
    const world = createWorld([slice("c", "x"), slice("a", "x"), slice("b", "y"), slice("d", undefined)]);
    expect(namesOf(endpointSlicesOf(world, "shop", "x"))).to.deep.equal(["shop/a", "shop/c"]);
    expect(endpointSlicesOf(world, "shop", "z")).to.deep.equal([]);
    expect(endpointSlicesOf(world, "blog", "x")).to.deep.equal([]);
  });
});
