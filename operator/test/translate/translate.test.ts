import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { updateWorld, type World } from "../../src/world.ts";
import { readCase } from "./golden.ts";

const settings = { ...defaultTranslateSettings };

/** The keys of the resources that are not the very objects of the translation before. */
function freshKeys(before: World, after: World): readonly string[] {
  const known = new Set<Resource>(translate(before, settings).scopes.shared);
  return translate(after, settings)
    .scopes.shared.filter((resource) => !known.has(resource))
    .map(({ key }): string => key);
}

const apply = (world: World, ...objects: readonly KubeObject[]): World =>
  updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );

/** The same object read again: equal, but with nothing remembered for it. */
const again = <T extends KubeObject>(object: T | undefined): T => {
  if (object === undefined) throw new Error("the case does not hold the object");
  return structuredClone(object);
};

describe("translate: what is reused after a change", () => {
  const { world } = readCase("ingress-with-tls-foreign-namespace");

  it("a translation of an unchanged world encodes no resource again", () => {
    expect(freshKeys(world, { ...world })).to.deep.equal([]);
  });

  it("a changed EndpointSlice changes only the resource of its endpoints", () => {
    const slice = again(world.EndpointSlice.find(({ metadata }) => metadata.namespace === "shop"));
    const moved = { ...slice, endpoints: [{ addresses: ["10.0.0.2"] }] };
    expect(freshKeys(world, apply(world, moved))).to.deep.equal(["endpoints|shop/echo/80"]);
  });

  it("a changed Ingress leaves other hosts and the certificates unchanged", () => {
    const hosts = readCase("ingress-with-class-parameters").world;
    const ingress = again(hosts.Ingress.find(({ metadata }) => metadata.name === "own"));
    expect(freshKeys(hosts, apply(hosts, ingress))).to.deep.equal([
      "route|ingress|443|exact|own.example.com",
      "route|ingress|80|exact|own.example.com",
    ]);
    const secured = again(world.Ingress.find(({ metadata }) => metadata.name === "friend"));
    expect(freshKeys(world, apply(world, secured))).not.to.include("tls|443");
  });

  it("a changed Secret leaves every route unchanged", () => {
    const secret = again(world.Secret.find(({ metadata }) => metadata.name === "ec"));
    const opaque = { ...secret, type: "Opaque" };
    expect(freshKeys(world, apply(world, opaque))).to.deep.equal(["tls|443"]);
    expect(freshKeys(world, apply(world, secret))).to.deep.equal([]);
  });

  it("the routes of a host are encoded once for both ports", () => {
    const { shared } = translate(world, settings).scopes;
    const bodies = shared.filter(({ key }) => key.endsWith("exact|shop.example.com")).map(({ body }) => body);
    expect(bodies).to.have.lengthOf(2);
    expect(bodies[0]).to.equal(bodies[1]);
  });
});

describe("translate: the finding of a Service without endpoints", () => {
  const { world: served } = readCase("ingress-with-mirror-target-port-80");
  const withoutSlices = { ...served, EndpointSlice: [] };
  const [ingress] = served.Ingress;

  const findingOfEcho = (world: World, kept: TranslateSettings): string | undefined =>
    translate(world, kept).diagnostics.find(
      ({ reason, object }) => reason === "NoEndpoints" && object.name === "echo",
    )?.message;

  it("the finding of a Service without endpoints follows the uses of the Service as Ingresses are added and removed", () => {
    const copying = again(ingress);
    const second = {
      ...copying,
      metadata: {
        ...copying.metadata,
        name: "second",
        annotations: { "ingress.svc-labs.dev/mirror-target": "echo.shop.svc" },
      },
    };
    const both = apply(withoutSlices, second);
    const onlyRequests = findingOfEcho(withoutSlices, settings);
    expect(onlyRequests).to.match(/; requests to it are answered 503$/);
    expect(findingOfEcho(both, settings))
      .to.match(/; requests are not mirrored to it, and requests to it are answered 503$/)
      .and.equal(findingOfEcho(both, { ...settings }));
    expect(findingOfEcho({ ...withoutSlices }, settings)).to.equal(onlyRequests);
  });
});
