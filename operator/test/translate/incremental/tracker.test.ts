import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { createTracker } from "../../../src/translate/incremental/tracker.ts";
import { createWorld, updateWorld, type World } from "../../../src/world.ts";
import { ingressManifest } from "../../support/manifests.ts";

const service = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "ns" },
});

const grant: KubeObject = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "ReferenceGrant",
  metadata: { name: "grant", namespace: "other" },
};

const apply = (world: World, ...objects: readonly KubeObject[]): World =>
  updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );

/** A tracker in which each Ingress looks up the Service of its own name, and `b` also a permission. */
const setUp = () => {
  const computed: string[] = [];
  const track = createTracker({
    inputs: ({ Ingress }) => Ingress,
    compute: ({ metadata: { name, namespace } }, extra: object, { lookup, permits }) => {
      computed.push(name);
      const found = lookup("Service", namespace, name) !== undefined;
      if (name === "b") {
        permits({ kind: "Ingress", namespace }, { kind: "Secret", namespace: "other", name: "x" });
      }
      return { name, found, extra };
    },
  });
  const take = (): readonly string[] => computed.splice(0).sort();
  return { track, take };
};

const extra = {};
const always = (): object => extra;

describe("createTracker", () => {
  const world = createWorld([ingressManifest("a", "a.example"), ingressManifest("b", "b.example")]);

  it("createTracker computes every input at first, and later only changed ones", () => {
    const { track, take } = setUp();
    expect(track(world, always).added.map(({ name }) => name)).to.deep.equal(["a", "b"]);
    expect(take()).to.deep.equal(["a", "b"]);
    expect(track(world, always)).to.deep.equal({ removed: [], added: [] });
    const changes = track(apply(world, ingressManifest("b", "c.example")), always);
    expect(take()).to.deep.equal(["b"]);
    expect([changes.removed, changes.added].map((list) => list.map(({ name }) => name))).to.deep.equal([
      ["b"],
      ["b"],
    ]);
  });

  it("createTracker recomputes inputs that looked up an object that was added, changed or removed", () => {
    const { track, take } = setUp();
    track(world, always);
    take();
    const present = apply(world, service("a"));
    expect(track(present, always).added.map(({ name, found }) => [name, found])).to.deep.equal([["a", true]]);
    expect(track(apply(present, service("unrelated")), always)).to.deep.equal({ removed: [], added: [] });
    expect(track(apply(present, service("a")), always).added).to.have.lengthOf(1);
    expect(track(world, always).added.map(({ name, found }) => [name, found])).to.deep.equal([["a", false]]);
  });

  it("createTracker recomputes inputs that checked a permission when the grants change", () => {
    const { track, take } = setUp();
    track(world, always);
    take();
    track(apply(world, grant), always);
    expect(take()).to.deep.equal(["b"]);
  });

  it("createTracker recomputes inputs whose `extra` value changed", () => {
    const { track, take } = setUp();
    track(world, always);
    take();
    const other = {};
    track(world, ({ metadata }) => (metadata.name === "a" ? other : extra));
    expect(take()).to.deep.equal(["a"]);
  });

  it("createTracker forgets the lookups of removed inputs", () => {
    const { track } = setUp();
    track(world, always);
    const rest = updateWorld(world, [{ type: "delete", kind: "Ingress", namespace: "ns", name: "a" }]);
    expect(track(rest, always).removed.map(({ name }) => name)).to.deep.equal(["a"]);
    expect(track(apply(rest, service("a")), always)).to.deep.equal({ removed: [], added: [] });
  });
});
