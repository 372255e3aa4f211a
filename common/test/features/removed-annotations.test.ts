import { expect } from "chai";
import { annotations } from "../../src/features/registry.ts";
import { replacementOf } from "../../src/features/removed-annotations.ts";

describe("removed annotations", () => {
  it("a removed annotation is named with the resource that has its settings", () => {
    expect(replacementOf("ingress.svc-labs.dev/deny-source-range")).to.equal(
      "an IpAccessControl that ingress.svc-labs.dev/ip-access-control names",
    );
    expect(replacementOf("ingress.svc-labs.dev/compression-level")).to.equal(
      "a Compression that ingress.svc-labs.dev/compression names",
    );
    expect(replacementOf("ingress.svc-labs.dev/circuit-breaker-threshold")).to.equal(
      "a SvcBackendPolicy for the Service",
    );
  });

  it("a removed annotation of another prefix is unknown", () => {
    expect(replacementOf("example.com/deny-source-range")).to.equal(undefined);
  });

  it("an annotation of this release is not among those that were removed", () => {
    expect([...annotations.keys()].filter((key) => replacementOf(key) !== undefined)).to.deep.equal([]);
  });
});
