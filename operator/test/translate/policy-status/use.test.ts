import { expect } from "chai";
import fc from "fast-check";
import { joinUses, type Use } from "../../../src/translate/policy-status/use.ts";

const policy = "RateLimit shop/slow";
const use = (kind: string, name: string, namespace: string | undefined = "shop"): Use => ({
  policy,
  user: namespace === undefined ? { kind, name } : { kind, namespace, name },
});

describe("joinUses", () => {
  it("the users of a policy are named in the order of kind and name", () => {
    expect(joinUses([use("Ingress", "b"), use("HTTPRoute", "z"), use("Ingress", "a")])).to.deep.equal({
      count: 3,
      elsewhere: 0,
      objects: [
        { kind: "HTTPRoute", name: "z" },
        { kind: "Ingress", name: "a" },
        { kind: "Ingress", name: "b" },
      ],
      summary: "HTTPRoute z, Ingress a and 1 more",
    });
  });

  it("users of other namespaces are counted and not named", () => {
    const joined = joinUses([use("Ingress", "theirs", "blog"), use("Ingress", "ours")]);
    expect(joined).to.include({ count: 2, elsewhere: 1, summary: "Ingress ours and 1 more" });
    expect(JSON.stringify(joined)).not.to.match(/theirs|blog/);
    expect(joinUses([use("Ingress", "theirs", "blog")]).summary).to.equal("1 in other namespaces");
  });

  it("users without a namespace are named", () => {
    const ofClass = { policy, user: { kind: "GatewayClass", name: "svc" } };
    expect(joinUses([ofClass])).to.include({ elsewhere: 0, summary: "GatewayClass svc" });
  });

  it("ten thousand users take no more room than eleven", () => {
    const [first = use("Ingress", "0"), ...others] = Array.from({ length: 10_000 }, (_, index) =>
      use("Ingress", `i-${index}`),
    );
    const joined = joinUses([first, ...others]);
    expect(joined.count).to.equal(10_000);
    expect(joined.objects).to.have.length(10);
    expect(joined.summary).to.equal("Ingress i-0, Ingress i-1 and 9998 more");
  });

  it("the order in which users come decides nothing", () => {
    const user = fc
      .tuple(fc.constantFrom("Ingress", "HTTPRoute"), fc.nat(40), fc.constantFrom("shop", "blog"))
      .map(([kind, number, namespace]) => use(kind, `n-${number}`, namespace));
    fc.assert(
      fc.property(fc.array(user, { minLength: 1, maxLength: 40 }), (users) => {
        const [first, ...rest] = users as [Use, ...Use[]];
        const [last, ...reversed] = users.toReversed() as [Use, ...Use[]];
        expect(joinUses([first, ...rest])).to.deep.equal(joinUses([last, ...reversed]));
      }),
    );
  });
});
