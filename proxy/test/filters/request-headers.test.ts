import type { HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { expect } from "chai";
import { requestHeadersFilter } from "../../src/filters/request-headers.ts";
import { exchange } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

function run(modifier: HeaderModifier, headers: readonly string[]) {
  const under = exchange();
  under.authority = "a.example";
  under.headers = Fields.of([...headers]);
  expect(requestHeadersFilter(modifier).onRequest?.(under)).to.equal(undefined);
  return { ...under, headers: under.headers.toList() };
}

const a = (value: string) => ({ name: "X-A", value });

describe("the request-headers filter", () => {
  it("request-headers: setting a header replaces all fields of its name in any case", () => {
    const { headers } = run({ set: [a("new")] }, ["x-a", "1", "X-B", "2", "X-A", "3"]);
    expect(headers).to.deep.equal(["X-B", "2", "X-A", "new"]);
  });

  it("request-headers: the later of two values set for one name is used", () => {
    expect(run({ set: [a("1"), { name: "x-a", value: "2" }] }, []).headers).to.deep.equal(["x-a", "2"]);
  });

  it("request-headers: adding a header appends a field line, also next to one that is set", () => {
    expect(run({ add: [a("2")] }, ["x-a", "1"]).headers).to.deep.equal(["x-a", "1", "X-A", "2"]);
    expect(run({ add: [a("2")], set: [a("1")] }, ["x-a", "0"]).headers).to.deep.equal([
      "X-A",
      "1",
      "X-A",
      "2",
    ]);
  });

  it("request-headers: removal comes last and removes set and added headers as well", () => {
    const modifier = { remove: ["x-a"], set: [a("1")], add: [a("2"), { name: "X-B", value: "3" }] };
    expect(run(modifier, ["X-A", "0", "X-C", "4"]).headers).to.deep.equal(["X-C", "4", "X-B", "3"]);
  });

  it("request-headers: a Host that is set is the one that the upstream sees", () => {
    const under = run({ set: [{ name: "host", value: "b.example:81" }, a("1")] }, []);
    expect(under.upstreamAuthority).to.equal("b.example:81");
    expect(under.authority).to.equal("a.example");
    expect(under.headers).to.deep.equal(["X-A", "1"]);
    expect(run({ set: [a("1")] }, []).upstreamAuthority).to.equal(undefined);
  });
});
