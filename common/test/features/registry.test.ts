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

  it("every feature and option is registered under its own slug", () => {
    for (const [slug, owner] of Object.entries(owners)) expect(owner.slug).to.equal(slug);
    expect(Object.keys(routeFeaturesSchema.shape)).to.deep.equal(Object.keys(features));
  });

  it("every annotation whose type has a form has that form", () => {
    const free = new Set(["csv", "mirror-target", "newline-list", "string"]);
    for (const { name, type, form } of annotations.values()) {
      expect(form === undefined, name).to.equal(free.has(type));
    }
  });

  it("every annotation is registered once, with a sentence for its reference", () => {
    const declared = Object.values(owners).flatMap((owner) => Object.values(owner.annotations));
    expect([...annotations.keys()]).to.deep.equal(declared.map(annotationKey));
    expect(annotations.size).to.equal(declared.length);
    for (const { name, doc, fallback, builtIn, gatewayApi } of annotations.values()) {
      expect([builtIn, gatewayApi]).to.not.include("");
      expect(name).to.match(/^[a-z]+(-[a-z]+)*$/);
      expect(doc).to.match(/^[A-Z].*\.$/);
      expect(fallback).to.match(/^[a-z].*[^.]$/);
    }
  });
});
