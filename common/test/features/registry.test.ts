import { expect } from "chai";
import { annotationKey } from "../../src/features/definition.ts";
import { annotations, features, routeFeaturesSchema } from "../../src/features/registry.ts";

describe("feature registry", () => {
  it("files every feature under its own slug", () => {
    for (const [slug, feature] of Object.entries(features)) expect(feature.slug).to.equal(slug);
    expect(Object.keys(routeFeaturesSchema.shape)).to.deep.equal(Object.keys(features));
  });

  it("knows every annotation once, with a sentence for its reference", () => {
    const declared = Object.values(features).flatMap((feature) => Object.values(feature.annotations));
    expect([...annotations.keys()]).to.deep.equal(declared.map(annotationKey));
    expect(annotations.size).to.equal(declared.length);
    for (const { name, doc, fallback } of annotations.values()) {
      expect(name).to.match(/^[a-z]+(-[a-z]+)*$/);
      expect(doc).to.match(/^[A-Z].*\.$/);
      expect(fallback).to.match(/^[a-z].*[^.]$/);
    }
  });
});
