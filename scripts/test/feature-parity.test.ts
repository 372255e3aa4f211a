import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { annotationKey, type AnnotationDefinition } from "../../common/src/features/definition.ts";
import { features, routingOptions, tlsOptions } from "../../common/src/features/registry.ts";
import httpRouteSchema from "../../operator/src/api/schemas/httproute.json" with { type: "json" };
import { extensionKinds } from "../../operator/src/translate/gateway/filters/extension-refs.ts";
import { coverage } from "./e2e-coverage.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const isThere = (path: string): boolean => existsSync(new URL(path, root));

const testdata = "operator/test/translate/testdata/";
const goldenInputs = readdirSync(new URL(testdata, root)).filter((name) => name.endsWith(".in.yaml"));

const isWrittenIn = (names: readonly string[], pattern: RegExp): boolean =>
  names.some((name) => pattern.test(read(`${testdata}${name}`)));

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);

const annotationsOf = (owner: { readonly annotations: object }): readonly AnnotationDefinition<unknown>[] =>
  Object.values<AnnotationDefinition<unknown>>({ ...owner.annotations });

describe("the parity of features", () => {
  for (const owner of Object.values({ ...features, ...routingOptions, ...tlsOptions })) {
    const { slug } = owner;
    const annotations = annotationsOf(owner);

    it(`${slug} has a page`, () => {
      expect(read(`docs/features/${slug}.md`)).to.match(new RegExp(`^# ${slug}\n`));
    });

    it(`${slug} has a golden case that shows what it becomes`, () => {
      const name = annotations.length === 0 ? `gateway-with-${slug}` : `ingress-with-${slug}`;
      expect(goldenInputs).to.include(`${name}.in.yaml`);
      if (slug in features)
        expect(read(`${testdata}${name}.out.yaml`)).to.match(new RegExp(`^ +${slug}:`, "m"));
    });

    it(`${slug} has golden cases that set each of its annotations`, () => {
      const own = goldenInputs.filter((name) => name.startsWith(`ingress-with-${slug}`));
      for (const definition of annotations) {
        const key = annotationKey(definition);
        expect(isWrittenIn(own, new RegExp(`\\b${escaped(key)}"?:`)), key).to.equal(true);
      }
    });

    it(`${slug} has an end-to-end test of its own, which covers it`, () => {
      const test = `e2e/features/${slug}.test.ts`;
      expect(isThere(test), test).to.equal(true);
      const { annotations: covered, filters } = coverage(read(test));
      expect(covered).to.include.members(annotations.map(({ name }) => name));
      expect(covered.length + filters.length).to.be.greaterThan(0);
    });

    it(`${slug} has a filter, or says where it is handled`, () => {
      const handledIn = "handledIn" in owner ? owner.handledIn : [`proxy/src/filters/${slug}.ts`];
      expect(handledIn).to.have.length.greaterThan(0);
      for (const path of handledIn) expect(read(path), path).to.include(`docs/features/${slug}.md`);
    });
  }
});

describe("the parity of filters of the Gateway API", () => {
  const { spec } = httpRouteSchema.schema.properties;
  const types = spec.properties.rules.items.properties.filters.items.properties.type.enum;
  const page = read("docs/gateway-api.md");
  const inputs = goldenInputs.filter((name) => name.startsWith("gateway-with-"));
  const filters = [
    ...types
      .filter((type) => type !== "ExtensionRef")
      .map((type) => ({ name: type, word: type, yaml: `type: ${type}\\b` })),
    ...extensionKinds.map((kind) => ({
      name: `ExtensionRef to ${kind}`,
      word: kind,
      yaml: `extensionRef: [^\\n]*kind: ${kind}\\b`,
    })),
  ];
  const endToEnd = readdirSync(new URL("e2e/features/", root))
    .filter((name) => name.endsWith(".test.ts"))
    .flatMap((name) => coverage(read(`e2e/features/${name}`)).filters);

  for (const { name, word, yaml } of filters) {
    it(`${name} is in the table of docs/gateway-api.md, with the page of its feature`, () => {
      const rows = page.split("\n").filter((line) => line.startsWith("|") && line.includes(`\`${word}\``));
      const links = rows.flatMap((row) => [...row.matchAll(/\(features\/([a-z-]+)\.md/g)]);
      expect(links).to.have.length.greaterThan(0);
      expect(Object.keys(features)).to.include.members(links.map(([, slug]) => slug));
    });

    it(`${name} has a golden case`, () => {
      expect(isWrittenIn(inputs, new RegExp(yaml))).to.equal(true);
    });

    it(`${name} has an end-to-end test that covers it`, () => {
      expect(endToEnd).to.include(name);
    });
  }
});
