import { readFileSync } from "node:fs";
import { expect } from "chai";
import { annotationKey } from "../../src/features/definition.ts";
import {
  annotations,
  features,
  routeFeaturesSchema,
  routingOptions,
  tlsOptions,
} from "../../src/features/registry.ts";

describe("feature registry", () => {
  const owners = { ...features, ...routingOptions, ...tlsOptions };

  it("files every feature and option under its own slug", () => {
    for (const [slug, owner] of Object.entries(owners)) expect(owner.slug).to.equal(slug);
    expect(Object.keys(routeFeaturesSchema.shape)).to.deep.equal(Object.keys(features));
  });

  it("knows every annotation once, with a sentence for its reference", () => {
    const declared = Object.values(owners).flatMap((owner) => Object.values(owner.annotations));
    expect([...annotations.keys()]).to.deep.equal(declared.map(annotationKey));
    expect(annotations.size).to.equal(declared.length);
    for (const { name, doc, fallback } of annotations.values()) {
      expect(name).to.match(/^[a-z]+(-[a-z]+)*$/);
      expect(doc).to.match(/^[A-Z].*\.$/);
      expect(fallback).to.match(/^[a-z].*[^.]$/);
    }
  });

  it("has a row for every annotation in the reference, and no other", () => {
    const page = readFileSync(new URL("../../../docs/reference/annotations.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `([^`]+)`(.*)\|$/gm)].map(([, name = "", cells = ""]) => ({
      name,
      cells: cells.split("|").map((cell) => cell.trim()),
    }));
    expect(rows.map(({ name }) => name)).to.deep.equal([...annotations.values()].map(({ name }) => name));
    for (const [index, definition] of [...annotations.values()].entries()) {
      const [, type, classDefault, fallback, meaning = ""] = rows[index]?.cells ?? [];
      expect(type).to.equal(definition.type);
      expect(classDefault).to.equal(definition.classDefault ? "yes" : "no");
      expect(fallback).to.equal(definition.fallback);
      expect(meaning.startsWith(definition.doc)).to.equal(true);
    }
  });
});
