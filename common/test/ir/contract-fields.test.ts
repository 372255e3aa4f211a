import { expect } from "chai";
import { contractFields } from "../../src/ir/contract-fields.ts";
import { features } from "../../src/features/registry.ts";
import { resourceSchemas } from "../../src/ir/resource.ts";

describe("the fields of the contract", () => {
  it("every field has one path, in order", () => {
    const fields = contractFields();
    expect(fields).to.deep.equal([...new Set(fields)].toSorted());
  });

  it("every kind of resource has fields", () => {
    const kinds = new Set(contractFields().map((field) => field.split(".")[0]));
    expect(Object.keys(resourceSchemas).filter((type) => !kinds.has(type))).to.deep.equal([]);
  });

  it("every feature has a path, however deep it is in routes and backends", () => {
    const fields = new Set(contractFields());
    expect(Object.keys(features).filter((slug) => !fields.has(`features.${slug}`))).to.deep.equal([]);
    expect(fields).to.include("features.ext-auth.check.failClosed").and.include("route.routes.match.path");
  });
});
