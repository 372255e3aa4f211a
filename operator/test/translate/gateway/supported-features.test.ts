import { expect } from "chai";
import { kindNames, type KindName } from "../../../src/api/kinds.ts";
import { supportedFeaturesOf } from "../../../src/translate/gateway/supported-features.ts";

const without = (...kinds: readonly KindName[]): ReadonlySet<KindName> =>
  new Set(kindNames.filter((kind) => !kinds.includes(kind)));

describe("the supported features", () => {
  const all = supportedFeaturesOf(without());

  it("are sorted, each once", () => {
    expect(all).to.deep.equal([...new Set(all)].sort());
  });

  it("leave out those of kinds that are not installed", () => {
    expect(all).to.include.members(["TLSRoute", "TLSRouteModeMixed", "TCPRoute", "UDPRoute"]);
    const fewer = supportedFeaturesOf(without("TLSRoute", "UDPRoute"));
    expect(all.filter((feature) => !fewer.includes(feature))).to.deep.equal([
      "TLSRoute",
      "TLSRouteModeMixed",
      "TLSRouteModeTerminate",
      "UDPRoute",
    ]);
  });
});
