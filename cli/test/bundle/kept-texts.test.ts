import { expect } from "chai";
import { definitionOf, kindNames } from "@svc-gateway/operator/api/kinds.ts";
import type { Schema } from "@svc-gateway/operator/api/schema.ts";
import { isPlainValue, ruleOf } from "../../src/bundle/kept-texts.ts";

/** Text fields that may hold a secret, or whose texts help with nothing. A new field belongs here or into `kept-texts.ts`. */
const withheldFields: ReadonlySet<string> = new Set([
  ...["annotations", "data", "binaryData", "stringData", "defaultAnnotations", "nginxConfig", "options"],
  ...["description", "deprecatedTopology", "trustBundle", "pattern", "replacement", "value", "valuePrefix"],
  // Quantities, which are kept where they are plain values.
  ...[
    "limits",
    "requests",
    "absoluteTimeout",
    "idleTimeout",
    "backendRequest",
    "request",
    "backoff",
    "connect",
    "idle",
  ],
  ...[
    "duration",
    "maxOpenDuration",
    "openDuration",
    "window",
    "within",
    "period",
    "refreshInterval",
    "timeout",
  ],
  ...["maxSize", "resourceVersion"],
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
  it("every text field of every kind is either kept or known to be withheld", () => {
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

  for (const text of ["true", "30s", "10.5", "8Ki", "100m", "10/s"]) {
    it(`the annotation value ${text} is plain`, () => expect(isPlainValue(text)).to.equal(true));
  }
  for (const text of ["", "1234567890", "hunter2", "30s; x", "true\n"]) {
    it(`the annotation value ${JSON.stringify(text)} is not plain`, () =>
      expect(isPlainValue(text)).to.equal(false));
  }
});
