import { expect } from "chai";
import { z } from "zod";
import { contractFields } from "../../src/ir/contract-fields.ts";
import { features } from "../../src/features/registry.ts";
import { resourceSchemas } from "../../src/ir/resource.ts";

describe("the fields of the contract", () => {
  it("every field has one path, in order", () => {
    const fields = contractFields();
    expect(fields).to.deep.equal([...new Set(fields)].toSorted());
  });

  it("a JSON Schema of the resources has the same fields, so that no kind of schema is overlooked", () => {
    const names = new Set<string>();
    const collect = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      if ("properties" in value) for (const name of Object.keys(value.properties as object)) names.add(name);
      for (const inner of Object.values(value)) collect(inner);
    };
    for (const schema of Object.values(resourceSchemas))
      collect(z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }));
    const listed = new Set(contractFields().map((field) => field.slice(field.lastIndexOf(".") + 1)));
    expect([...names].filter((name) => !listed.has(name))).to.deep.equal([]);
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
