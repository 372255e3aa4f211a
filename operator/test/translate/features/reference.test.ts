import { expect } from "chai";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { translate } from "../../../src/translate/translate.ts";
import { updateWorld, type World } from "../../../src/world.ts";
import { readCase } from "../golden.ts";

const office = (...deny: string[]): KubeObject =>
  ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "IpAccessControl",
    metadata: { namespace: "infra", name: "offices" },
    spec: { deny },
  }) as KubeObject;

describe("resources that annotations name", () => {
  const { world: without, settings } = readCase("ingress-with-ip-access-control-invalid-missing");

  const featureIn = (world: World): unknown =>
    translate(world, settings)
      .scopes.shared.map((resource) => decodeResource(resource))
      .flatMap((decoded) => (decoded.ok && decoded.value?.type === "route" ? decoded.value.value.routes : []))
      .map(({ features }) => features?.["ip-access-control"])
      .at(0);

  it("hold as soon as they appear, change, and no longer when they are gone", () => {
    expect(featureIn(without)).to.equal(undefined);
    const appeared = updateWorld(without, [{ type: "apply", object: office("10.0.0.0/8") }]);
    expect(featureIn(appeared)).to.deep.equal({ deny: ["10.0.0.0/8"] });
    const changed = updateWorld(appeared, [{ type: "apply", object: office() }]);
    expect(featureIn(changed)).to.deep.equal({ deny: [] });
    const gone = updateWorld(changed, [
      { type: "delete", kind: "IpAccessControl", namespace: "infra", name: "offices" },
    ]);
    expect(featureIn(gone)).to.equal(undefined);
  });
});
