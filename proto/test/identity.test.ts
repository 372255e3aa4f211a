import { expect } from "chai";
import fc from "fast-check";
import { identityOfNames, parseSpiffeId, spiffeId } from "@svc-gateway/proto/identity.ts";

const workload = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };

describe("SPIFFE IDs", () => {
  it("a SPIFFE ID is parsed back to its service account", () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(name, name, (namespace, serviceAccount) => {
        const id = spiffeId("example.org", { namespace, serviceAccount });
        expect(parseSpiffeId("example.org", id)).to.deep.equal({ namespace, serviceAccount });
      }),
    );
  });

  const foreignIds = [
    "",
    "spiffe://example.org",
    "spiffe://example.org/ns/a",
    "spiffe://example.org/ns/a/sa/",
    "spiffe://example.org/ns//sa/b",
    "spiffe://example.org/ns/a/sa/b/c",
    "spiffe://example.org/ns/a/sa/b?x",
    "spiffe://example.org/ns/A/sa/b",
    "spiffe://example.org.evil/ns/a/sa/b",
    "spiffe://other.org/ns/a/sa/b",
    "https://example.org/ns/a/sa/b",
    `spiffe://example.org/ns/a/sa/${"b".repeat(600)}`,
  ];
  for (const id of foreignIds) {
    it(`parseSpiffeId rejects ${id.slice(0, 50)}`, () => {
      expect(parseSpiffeId("example.org", id)).to.equal(undefined);
    });
  }
});

describe("the identity in a certificate", () => {
  const uri = `URI:${spiffeId("example.org", workload)}`;

  it("the identity of a certificate is its only URI, beside any other names", () => {
    expect(identityOfNames("example.org", uri)).to.deep.equal(workload);
    expect(identityOfNames("example.org", `DNS:a.example, ${uri}, IP Address:10.0.0.1`)).to.deep.equal(
      workload,
    );
  });

  it("a certificate without a URI, with two, or with a quoted one has no identity", () => {
    expect(identityOfNames("example.org", undefined)).to.equal(undefined);
    expect(identityOfNames("example.org", "DNS:a.example")).to.equal(undefined);
    expect(identityOfNames("example.org", `${uri}, ${uri}`)).to.equal(undefined);
    expect(identityOfNames("example.org", `DNS:"a, ${uri}"`)).to.equal(undefined);
    expect(identityOfNames("other.org", uri)).to.equal(undefined);
  });
});
