import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { parse } from "yaml";
import { kindNames, type KindName } from "../../src/api/kinds.ts";
import { casesOf, resourceCases } from "./resource-cases/index.ts";

type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
};

type Crd = {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly subresources?: { readonly status?: object };
      readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
};

const folder = new URL("../../../crds/", import.meta.url);
const crds = readdirSync(folder).map((file) => ({
  file,
  crd: parse(readFileSync(new URL(file, folder), "utf8")) as Crd,
}));

const expectedKinds = [
  "BasicAuth",
  "ClientTrafficPolicy",
  "Compression",
  "IpAccessControl",
  "JwtAuth",
  "PathRewriteRegex",
  "RateLimit",
  "RequestSizeLimit",
  "RetryPolicy",
  "RouteOptions",
  "SvcBackendPolicy",
  "SvcExternalAuth",
  "SvcGatewayParameters",
  "SvcIngressClassParameters",
];

describe("custom resource definitions", () => {
  it("a custom resource definition exists for every kind of the project, and the kind is in the registry", () => {
    expect(crds.map(({ crd }) => crd.spec.names.kind).toSorted()).to.deep.equal(expectedKinds);
    expect(kindNames).to.include.members(expectedKinds);
  });

  it("the short names of all custom resource definitions are different", () => {
    const short = crds.flatMap(({ crd }) => crd.spec.names.shortNames);
    expect(new Set(short).size).to.equal(short.length);
  });

  it("every kind has a status subresource, and columns for whether its objects are accepted and for who uses them", () => {
    for (const { crd } of crds) {
      const [version] = crd.spec.versions;
      const columns = (version?.additionalPrinterColumns ?? []).map(({ name }) => name);
      expect(version?.subresources, crd.spec.names.kind).to.have.property("status");
      expect(columns, crd.spec.names.kind).to.include("Accepted");
      expect(columns.includes("Used By") || columns.includes("Targets"), crd.spec.names.kind).to.equal(true);
    }
  });

  for (const { file, crd } of crds) {
    describe(file, () => {
      const { names, group, versions } = crd.spec;
      const schema = versions[0]?.schema.openAPIV3Schema ?? {};

      it(`${file} is named after the plural and group of its kind`, () => {
        expect(file).to.equal(`${names.plural}.yaml`);
        expect(crd.metadata.name).to.equal(`${names.plural}.${group}`);
        expect(names.singular).to.equal(names.kind.toLowerCase());
        expect(crd.spec.scope).to.equal("Namespaced");
        expect(names.categories).to.deep.equal(["svc-gateway"]);
        expect(versions.map((version) => version.name)).to.deep.equal(["v1alpha1"]);
      });

      it(`every field in ${file} has a description`, () => {
        expect(
          fieldsOf(schema).filter(({ path, field }) => path !== "metadata" && !field.description),
        ).to.deep.equal([]);
      });

      it(`the description of every field in ${file} says what happens to an unusable value`, () => {
        const { spec } = schema.properties ?? {};
        const cases = resourceCases.get(names.kind as KindName);
        if (cases === undefined) throw new Error(`there are no values of ${names.kind}`);
        for (const { path, verdict } of casesOf(cases)) {
          if (!["ignored", "off", "closed"].includes(verdict)) continue;
          const field = path.split(".").reduce((at, name) => at?.properties?.[name], spec);
          expect(field?.description, path).to.match(/warning|503|Accepted=False|dropped/);
        }
      });

      it(`every list, map and text in ${file} is bounded`, () => {
        const {
          apiVersion: _version,
          kind: _kind,
          metadata: _metadata,
          ...properties
        } = schema.properties ?? {};
        const unbounded = fieldsOf({ ...schema, properties }).filter(({ field }) => {
          if (field.type === "array") return field.maxItems === undefined;
          if (field.type === "string")
            return field.maxLength === undefined && !field.enum && field.format !== "date-time";
          return field.additionalProperties !== undefined && field.maxProperties === undefined;
        });
        expect(unbounded.map(({ path }) => path)).to.deep.equal([]);
      });

      it(`the printer columns of ${file} are of fields that exist`, () => {
        const paths = fieldsOf(schema).map(({ path }) => `.${path}`);
        for (const { jsonPath } of versions[0]?.additionalPrinterColumns ?? []) {
          const plain = jsonPath.replaceAll(/\[[^\]]*\]/g, "[]");
          if (!plain.startsWith(".metadata.")) expect(paths).to.include(plain);
        }
      });
    });
  }
});

/** Every field below a schema, with its dotted path. */
function fieldsOf(schema: Schema, path = ""): readonly { readonly path: string; readonly field: Schema }[] {
  const children: [string, Schema][] = Object.entries(schema.properties ?? {}).map(([name, child]) => [
    path === "" ? name : `${path}.${name}`,
    child,
  ]);
  if (schema.items) children.push([`${path}[]`, schema.items]);
  if (schema.additionalProperties) children.push([`${path}{}`, schema.additionalProperties]);
  return children.flatMap(([childPath, field]) => [
    { path: childPath, field },
    ...fieldsOf(field, childPath),
  ]);
}
