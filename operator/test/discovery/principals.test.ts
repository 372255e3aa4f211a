import { expect } from "chai";
import {
  createExpectedPrincipals,
  parseServiceAccountUser,
  scopeKey,
  type DedicatedGateway,
} from "@svc-gateway/operator/discovery/principals.ts";

const shared = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };
const scope = (namespace: string, name: string) =>
  ({ kind: "dedicated", gateway: { namespace, name } }) as const;

describe("expected principals", () => {
  it("the expected principals are the shared proxies' service account and that of each dedicated Gateway", () => {
    const gateways: DedicatedGateway[] = [];
    const principals = createExpectedPrincipals({ shared, dedicated: () => gateways });
    const own = { namespace: "team", serviceAccount: "gw-svc" };
    expect(principals.ofScope({ kind: "shared" })).to.deep.equal(shared);
    expect(principals.includes(shared)).to.equal(true);
    expect(principals.ofScope(scope("team", "gw"))).to.equal(undefined);
    expect(principals.includes(own)).to.equal(false);
    gateways.push({ gateway: { namespace: "team", name: "gw" }, serviceAccount: "gw-svc" });
    expect(principals.ofScope(scope("team", "gw"))).to.deep.equal(own);
    expect(principals.ofScope(scope("other", "gw"))).to.equal(undefined);
    expect(principals.includes(own)).to.equal(true);
    expect(principals.includes({ ...own, namespace: "other" })).to.equal(false);
    expect(principals.includes({ ...shared, namespace: "team" })).to.equal(false);
  });

  it("the key of the shared scope cannot be that of a Gateway", () => {
    expect(scopeKey({ kind: "shared" })).to.equal("shared");
    expect(scopeKey(scope("shared", "shared"))).to.equal("shared/shared");
  });
});

describe("the user name of a service account", () => {
  it("the user name of a service account is parsed into namespace and name", () => {
    expect(parseServiceAccountUser("system:serviceaccount:svc-system:svc-shared-proxy")).to.deep.equal(
      shared,
    );
  });

  const others = [
    "",
    "admin",
    "system:node:worker",
    "system:serviceaccount:svc-system",
    "system:serviceaccount::name",
    "system:serviceaccount:svc-system:",
    "system:serviceaccount:svc-system:a:b",
    "system:serviceaccount:Svc:a",
    "x:serviceaccount:a:b",
  ];
  for (const user of others) {
    it(`the user name "${user}" is not that of a service account`, () =>
      expect(parseServiceAccountUser(user)).to.equal(undefined));
  }
});
