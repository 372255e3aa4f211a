import { annotations } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import { definitionOf, kindNames } from "@svc-gateway/operator/api/kinds.ts";
import type { Schema } from "@svc-gateway/operator/api/schema.ts";
import { isPlainSetting, isPlainValue, ruleOf } from "../../src/bundle/kept-texts.ts";

/** Text fields that may hold a secret, or whose texts help with nothing. A new field belongs here or into `kept-texts.ts`. */
const withheldFields: ReadonlySet<string> = new Set([
  ...["annotations", "data", "binaryData", "stringData", "defaultAnnotations", "nginxConfig", "options"],
  ...["description", "deprecatedTopology", "trustBundle", "pattern", "replacement", "value", "valuePrefix"],
  "resourceVersion",
]);

type Field = { readonly key: string; readonly parent: string; readonly path: string };

/** The fields of a schema that hold a text of any kind. */
function textFields(schema: Schema, key: string, parent: string, path: string): readonly Field[] {
  const own =
    schema.type === "string" || schema["x-kubernetes-int-or-string"] === true ? [{ key, parent, path }] : [];
  return [
    ...own,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      textFields(one, name, key, `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : textFields(schema.items, key, parent, path)),
    // The names in a map are those of users: what counts is the map.
    ...(schema.additionalProperties === undefined
      ? []
      : textFields(schema.additionalProperties, "", key, path)),
  ];
}

describe("the texts of objects that a bundle holds", () => {
  it("every text field of every kind is either kept, at least if it is a plain value, or known to be withheld", () => {
    const undecided = kindNames.flatMap((kind) => {
      const { properties = {} } = definitionOf(kind).schema;
      return Object.entries(properties)
        .filter(([name]) => !["metadata", "status", "apiVersion", "kind"].includes(name))
        .flatMap(([name, schema]) => textFields(schema, name, "", `${kind}.${name}`))
        .filter(({ key, parent }) => ruleOf(key, parent) === "withheld")
        .filter(({ key, parent }) => !withheldFields.has(key === "" ? parent : key))
        .map(({ path }) => path);
    });
    expect([...new Set(undecided)]).to.deep.equal([]);
  });

  it("the value of a header is withheld, and that of a path is kept without its query", () => {
    expect(ruleOf("value", "set")).to.equal("withheld");
    expect(ruleOf("value", "headers")).to.equal("withheld");
    expect(ruleOf("value", "path")).to.equal("path");
  });

  it("a field that no list names is withheld", () => {
    expect(ruleOf("apiToken", "spec")).to.equal("withheld");
  });

  it("a duration or quantity is kept only if it is a plain value", () => {
    expect(ruleOf("timeout", "spec")).to.equal("plain");
    expect(ruleOf("memory", "limits")).to.equal("plain");
  });

  it("a number or duration in an annotation is kept only if the name of the annotation denotes a quantity", () => {
    for (const name of ["nginx.ingress.kubernetes.io/proxy-read-timeout", "limit-rps", "example.com/ttl"])
      expect(isPlainSetting(name, "60"), name).to.equal(true);
    for (const name of [
      "nginx.ingress.kubernetes.io/canary-by-header-value",
      "ingress.svc-labs.dev/auth-basic-realm",
      ...["example.com/pin", "example.com/account-number", "example.com/code", "example.com/password"],
    ]) {
      expect(isPlainSetting(name, "12345678"), name).to.equal(false);
      expect(isPlainSetting(name, "1234567d"), name).to.equal(false);
      expect(isPlainSetting(name, "true"), name).to.equal(true);
    }
  });

  it("each annotation of the gateway is kept exactly if it is an integer, a duration or a size", () => {
    const kept = [...annotations.values()].filter(({ name }) => isPlainSetting(name, "60"));
    const quantities = [...annotations.values()].filter(({ type }) =>
      ["integer", "duration", "size"].includes(type),
    );
    expect(kept.map(({ name }) => name)).to.deep.equal(quantities.map(({ name }) => name));
  });

  for (const text of ["true", "30s", "10.5", "8Ki", "100m", "10/s"]) {
    it(`the value ${text} is plain`, () => expect(isPlainValue(text)).to.equal(true));
  }
  for (const text of ["", "1234567890", "hunter2", "30s; x", "true\n"]) {
    it(`the value ${JSON.stringify(text)} is not plain`, () => expect(isPlainValue(text)).to.equal(false));
  }
});
