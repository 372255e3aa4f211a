import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import type { NginxConfig } from "../../../src/translate/ingress-nginx/config.ts";
import { configKeyNames } from "../../../src/translate/ingress-nginx/config-keys.ts";
import { readNginxConfig } from "../../../src/translate/ingress-nginx/config-reader.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createLookup, createWorld } from "../../../src/world.ts";

const namespace = "ingress-nginx";
const settings: TranslateSettings = {
  ...defaultTranslateSettings,
  ingressNginx: {
    ...defaultTranslateSettings.ingressNginx,
    classes: ["nginx"],
    configMap: { namespace, name: "controller" },
  },
};

const configMap = (name: string, data: Record<string, string>): KubeObject & { data: unknown } => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data,
});

const ingress: KubeObject & { spec: unknown } = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "shop", namespace: "shop" },
  spec: {
    ingressClassName: "nginx",
    defaultBackend: { service: { name: "echo", port: { number: 80 } } },
  },
};

/** The findings on an `add-headers` with the given number of fields, and the number of fields that routes set. */
function addedHeaders(count: number): { readonly findings: readonly string[]; readonly set: number } {
  const fields = Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-Field-${index}`, "1"]));
  const objects = [
    configMap("controller", { "add-headers": `${namespace}/fields` }),
    configMap("fields", fields),
    ingress,
  ];
  const { routing, diagnostics } = translate(createWorld(objects), settings);
  const [route] = routing.hosts.flatMap(({ value }) => value.routes);
  return {
    findings: diagnostics.filter(({ object }) => object.kind === "ConfigMap").map(({ message }) => message),
    set: route?.features?.["response-headers"]?.set?.length ?? 0,
  };
}

/** The configuration that a ConfigMap, and the parameters of a class, result in. */
const configOf = (data: Record<string, string>, nginxConfig: Record<string, string> = {}): NginxConfig =>
  readNginxConfig(
    settings,
    {
      apiVersion: "ingress.svc-labs.dev/v1alpha1",
      kind: "SvcIngressClassParameters",
      metadata: { name: "nginx", namespace },
      spec: { nginxConfig },
    },
    { lookup: createLookup(createWorld([configMap("controller", data)])) },
  );

describe("ConfigMap of ingress-nginx", () => {
  it("a key with an empty value counts as absent, also if it protects", () => {
    const protective = ["global-auth-url", "whitelist-source-range", "block-cidrs", "block-user-agents"];
    expect(configKeyNames).to.include.members(protective);
    for (const key of configKeyNames)
      for (const value of ["", " \n"]) expect(configOf({ [key]: value }), key).to.deep.equal(configOf({}));
  });

  it("an empty value of a class does not replace a value of the ConfigMap", () => {
    const blocked = { "block-cidrs": "10.0.0.0/8" };
    expect(configOf(blocked, { "block-cidrs": "" })).to.deep.equal(configOf(blocked));
  });

  it("add-headers of more than 100 fields is reported, and its first 100 are set", () => {
    expect(addedHeaders(100)).to.deep.equal({ findings: [], set: 100 });
    expect(addedHeaders(102)).to.deep.equal({
      findings: ["add-headers: ConfigMap ingress-nginx/fields has 102 fields; only the first 100 are set"],
      set: 100,
    });
  });
});
