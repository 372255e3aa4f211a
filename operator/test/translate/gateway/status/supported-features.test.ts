import { expect } from "chai";
import { definitionOf, kindNames, type KindName } from "../../../../src/api/kinds.ts";
import type { Schema } from "../../../../src/api/schema.ts";
import {
  optionalFields,
  supportedFeaturesOf,
} from "../../../../src/translate/gateway/status/supported-features.ts";

const without = (...kinds: readonly KindName[]): ReadonlySet<KindName> =>
  new Set(kindNames.filter((kind) => !kinds.includes(kind)));

describe("the supported features", () => {
  const everyField = () => true;
  const all = supportedFeaturesOf(without(), everyField);

  it("the supported features are sorted and distinct", () => {
    expect(all).to.deep.equal([...new Set(all)].sort());
  });

  it("the supported features leave out those of kinds that are not installed", () => {
    expect(all).to.include.members(["TLSRoute", "TLSRouteModeMixed", "TCPRoute", "UDPRoute"]);
    const fewer = supportedFeaturesOf(without("TLSRoute", "UDPRoute", "ClusterTrustBundle"), everyField);
    expect(all.filter((feature) => !fewer.includes(feature))).to.deep.equal([
      "ClusterTrustBundle",
      "TLSRoute",
      "TLSRouteModeMixed",
      "TLSRouteModeTerminate",
      "UDPRoute",
    ]);
  });

  it("the supported features leave out those of fields that the installed definitions lack", () => {
    const fewer = supportedFeaturesOf(without(), ({ path }) => path.at(-1) !== "retry");
    expect(all.filter((feature) => !fewer.includes(feature))).to.deep.equal([
      "HTTPRouteRetryCodes",
      "HTTPRouteRetryConnectionError",
    ]);
  });

  it("the fields that supported features depend on exist in the experimental channel", () => {
    for (const { kind, path } of optionalFields) {
      let schema: Schema | undefined = definitionOf(kind).schema;
      for (const name of path) schema = (schema?.items ?? schema)?.properties?.[name];
      expect(schema, `${kind} ${path.join(".")}`).not.to.equal(undefined);
    }
  });
});
