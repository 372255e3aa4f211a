import { expect } from "chai";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import { dedicatedName, serviceAccountNames, vipName } from "../../../src/translate/gateway/names.ts";

const gateway = (namespace: string, name: string): ObjectOf<"Gateway"> => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { namespace, name },
  spec: { gatewayClassName: "svc", listeners: [] },
});

describe("names of the Services of a Gateway", () => {
  const gateways = [
    gateway("shop", "edge"),
    gateway("shop", "edge.v2"),
    gateway("shop", "edge-v2"),
    gateway("1st", "2nd.3rd"),
    gateway("n".repeat(63), "g".repeat(253)),
    gateway("n".repeat(63), `${"g".repeat(252)}h`),
    gateway("n".repeat(39), "g"),
  ];

  for (const [what, nameOf] of Object.entries({ vipName, dedicatedName })) {
    it(`${what} gives every Gateway a valid Service name of its own`, () => {
      const names = gateways.map(nameOf);
      for (const name of names) expect(name).to.match(/^[a-z][-a-z0-9]{0,61}[a-z0-9]$/);
      expect(new Set(names).size).to.equal(gateways.length);
    });
  }
});

describe("serviceAccountNames", () => {
  const of = (namespace: string, name: string, gatewayClassName: string): ObjectOf<"Gateway"> => {
    const { spec, ...rest } = gateway(namespace, name);
    return { ...rest, spec: { ...spec, gatewayClassName } };
  };
  const namesOf = (...gateways: readonly ObjectOf<"Gateway">[]): readonly string[] => [
    ...serviceAccountNames(gateways).values(),
  ];

  it("serviceAccountNames joins the names of Gateway and class", () => {
    expect(namesOf(of("shop", "edge", "svc"), of("blog", "edge", "svc"))).to.deep.equal([
      "edge-svc",
      "edge-svc",
    ]);
  });

  it("serviceAccountNames gives a name that two Gateways share to the first, and adds a digest to the other", () => {
    const [first, second, third] = namesOf(
      of("shop", "a-b", "c"),
      of("shop", "a", "b-c"),
      of("blog", "a", "b-c"),
    );
    expect([first, third]).to.deep.equal(["a-b-c", "a-b-c"]);
    expect(second).to.match(/^a-b-c-[0-9a-f]{8}$/);
  });

  it("serviceAccountNames cuts long names to distinct valid names", () => {
    const long = "g".repeat(39);
    const all = namesOf(
      of("shop", `${long}.x-y`, "z"),
      of("shop", `${long}.x`, "y-z"),
      of("shop", "n".repeat(253), "svc"),
      of("shop", `${"n".repeat(53)}.${"n".repeat(100)}`, "svc"),
    );
    expect(all[0]).to.equal(`${long}.x-y-z`);
    expect(all[1]).to.match(new RegExp(`^${long}-[0-9a-f]{8}$`));
    expect(new Set(all).size).to.equal(all.length);
    for (const name of all) {
      expect(name.length).to.be.at.most(63);
      for (const label of name.split(".")) expect(label).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    }
  });

  it("serviceAccountNames keeps the names of older Gateways when a younger one is named like their digest", () => {
    const [, second = ""] = namesOf(of("shop", "a-b", "c"), of("shop", "a", "b-c"));
    const mark = second.lastIndexOf("-");
    const third = of("shop", second.slice(0, mark), second.slice(mark + 1));
    const after = namesOf(of("shop", "a-b", "c"), of("shop", "a", "b-c"), third);
    expect(after.slice(0, 2)).to.deep.equal(["a-b-c", second]);
    expect(new Set(after).size).to.equal(3);
  });
});
