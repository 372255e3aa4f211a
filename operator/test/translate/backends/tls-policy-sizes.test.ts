import { expect } from "chai";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { TlsPolicySettings } from "../../../src/translate/backends/tls-policy-settings.ts";
import {
  createAuthorityFitter,
  maxAuthoritiesLength,
} from "../../../src/translate/backends/tls-policy-sizes.ts";
import { createWorld } from "../../../src/world.ts";

const policy = (namespace: string, name: string, day: number): KubeObject => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "BackendTLSPolicy",
  metadata: { namespace, name, creationTimestamp: `2030-01-0${day}T00:00:00Z` },
  ...{ spec: { targetRefs: [], validation: { hostname: "a.example" } } },
});

const closedOf = (objects: readonly KubeObject[], length: number): readonly string[] => {
  const world = createWorld(objects);
  const settings = (authorities: string): TlsPolicySettings => ({
    tls: { hostname: "a.example", authorities },
    unaccepted: undefined,
    unresolved: undefined,
    diagnostics: [],
  });
  const read = ({ metadata }: ObjectOf<"BackendTLSPolicy">): TlsPolicySettings =>
    settings("a".repeat(metadata.namespace === "team" ? length : 1000));
  const fit = createAuthorityFitter(world, read);
  return world.BackendTLSPolicy.flatMap((one) => {
    const { tls, unaccepted } = fit(one, read(one));
    expect(tls?.hostname, "no policy is lost, which would be cleartext").to.equal("a.example");
    expect(tls?.authorities === undefined).to.equal(unaccepted !== undefined);
    return unaccepted === undefined ? [] : [one.metadata.name];
  });
};

describe("the authorities of BackendTLSPolicies", () => {
  const all = [
    policy("team", "b", 2),
    policy("shop", "s", 9),
    policy("team", "c", 3),
    policy("team", "a", 1),
  ];

  it("the authorities of BackendTLSPolicies are kept while all of them fit the limit", () => {
    expect(closedOf(all, Math.floor(maxAuthoritiesLength / 3) - 1000)).to.deep.equal([]);
  });

  it("authorities above the limit are left out of the newest policies of the largest namespace, which are then not accepted", () => {
    expect(closedOf(all, Math.floor(maxAuthoritiesLength / 3) + 1)).to.deep.equal(["c"]);
    expect([...closedOf(all, maxAuthoritiesLength)].sort()).to.deep.equal(["a", "b", "c"]);
  });
});
