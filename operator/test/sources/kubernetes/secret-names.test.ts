import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../src/api/object.ts";
import { kindNames } from "../../../src/api/kinds.ts";
import { createSecretNames, secretNamesIn } from "../../../src/sources/kubernetes/secret-names.ts";
import { defaultTranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld, type World } from "../../../src/world.ts";
import { validateObject } from "../../../src/api/validate.ts";

const folder = new URL("../../translate/testdata/", import.meta.url);

/** The objects of every golden input, with the namespace that they have there. */
const inputs = readdirSync(folder)
  .filter((name) => name.endsWith(".in.yaml"))
  .map((name): readonly [string, World] => {
    const documents = parseAllDocuments(readFileSync(new URL(name, folder), "utf8"));
    const objects = documents.flatMap((document): readonly KubeObject[] => {
      const valid = validateObject(document.toJS());
      return valid.ok ? [valid.value.object] : [];
    });
    return [name, createWorld(objects)];
  })
  .filter(([, { Secret }]) => Secret.length > 0);

const settings = {
  ...defaultTranslateSettings,
  defaultTlsSecret: { namespace: "shop", name: "default-cert" },
};

describe("the Secrets that objects name", () => {
  for (const [input, world] of inputs) {
    it(`all Secrets that the translation of ${input} needs are among the named ones`, () => {
      const names = createSecretNames([
        `${settings.defaultTlsSecret.namespace}/${settings.defaultTlsSecret.name}`,
        `${settings.installNamespace}/svc-session-key`,
      ]);
      for (const kind of kindNames) {
        for (const object of world[kind]) {
          const { namespace, name } = object.metadata;
          names.set(`${kind} ${namespace ?? ""}/${name}`, secretNamesIn(kind, object));
        }
      }
      const named = world.Secret.filter(({ metadata: { namespace, name } }) =>
        names.has(`${namespace}/${name}`),
      );
      const { scopes, diagnostics } = translate(world, settings);
      const less = translate({ ...world, Secret: named }, { ...settings });
      expect(less.scopes.shared).to.deep.equal(scopes.shared);
      expect(less.diagnostics).to.deep.equal(diagnostics);
    });
  }

  it("a Secret is named until the last object that names it stops doing so", () => {
    const names = createSecretNames(["a/always"]);
    expect(names.set("Ingress a/one", new Set(["a/x", "a/y"]))).to.deep.equal([]);
    names.set("Ingress a/two", new Set(["a/x"]));
    expect(names.set("Ingress a/one", new Set(["a/z"]))).to.deep.equal(["a/y"]);
    expect(["a/x", "a/y", "a/z", "a/always", "b/x"].map((name) => names.has(name))).to.deep.equal([
      true,
      false,
      true,
      true,
      false,
    ]);
    expect(names.set("Ingress a/two", new Set())).to.deep.equal(["a/x"]);
  });

  it("a Secret that a class names may be in any namespace", () => {
    const names = createSecretNames([]);
    const parameters = {
      apiVersion: "ingress.svc-labs.dev/v1alpha1",
      kind: "SvcIngressClassParameters",
      metadata: { name: "p", namespace: "system" },
      spec: { defaultAnnotations: { "ingress.svc-labs.dev/auth-basic-secret": "users" } },
    } as KubeObject;
    names.set("p", secretNamesIn("SvcIngressClassParameters", parameters));
    expect(names.has("shop/users")).to.equal(true);
    expect(names.has("shop/others")).to.equal(false);
  });

  it("a Secret may be named in another namespace, in fields and in annotations", () => {
    const object = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name: "i",
        namespace: "shop",
        annotations: { "ingress.svc-labs.dev/auth-tls-secret": "other/ca", note: "not-me" },
      },
      spec: {
        tls: [{ secretName: "cert" }],
        ref: { name: "far", namespace: "away" },
        service: { name: "web" },
      },
    } as KubeObject;
    expect([...secretNamesIn("Ingress", object)].sort()).to.deep.equal([
      "away/far",
      "other/ca",
      "shop/cert",
      "shop/far",
    ]);
  });
});
