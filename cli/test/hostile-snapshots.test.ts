/**
 * A proxy applies a snapshot whole or not at all, so a value of one tenant that controllers accept and proxies reject
 * would freeze the configuration of all. Both are tested with the same tables of values, including senseless ones.
 */
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { validateObject } from "@svc-gateway/operator/api/validate.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { defaultTranslateSettings } from "@svc-gateway/operator/translate/settings.ts";
import { translate } from "@svc-gateway/operator/translate/translate.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { createWorld } from "@svc-gateway/operator/world.ts";
import { expect } from "chai";
import { annotationCases } from "../../common/test/features/annotation-cases.ts";
import { hostileSpecs } from "../../operator/test/api/hostile-specs.ts";
import { ours } from "../../operator/test/api/manifests.ts";
import { casesOf, resourceCases, show, withField } from "../../operator/test/api/resource-cases/index.ts";
import { translateResource } from "../../operator/test/translate/resource-worlds.ts";
import { harness } from "../../proxy/test/state/support.ts";

/** Expects that a proxy accepts every snapshot of a translation without problems. */
function expectTaken({ scopes }: Translation, what: string): void {
  for (const resources of [scopes.shared, ...scopes.dedicated.map((scope) => scope.resources)]) {
    const applied = harness().replace(...resources);
    expect(applied.ok ? applied.value.problems : applied.error.message, what).to.deep.equal([]);
  }
}

describe("snapshots of hostile values", () => {
  for (const [kind, cases] of resourceCases) {
    it(`proxies accept the snapshot of any valid ${kind} resource, with any value in it`, () => {
      for (const { path, value } of casesOf(cases)) {
        const spec = withField(cases.full, path, value);
        if (validateObject(ours(kind, spec)).ok)
          expectTaken(translateResource(kind, spec), `${path}: ${show(value)}`);
      }
      for (const { path, value, spec } of hostileSpecs(kind, cases.full)) {
        if (validateObject(ours(kind, spec)).ok)
          expectTaken(translateResource(kind, spec), `${path}: ${show(value)}`);
      }
    });
  }

  const hostileTexts = [
    "",
    " ",
    "\0",
    "x\r\nX-Injected: y",
    "1e999",
    "-1",
    "9".repeat(400),
    "x".repeat(20_000),
    "\u{1f600}",
    "\ud800",
    "__proto__",
    "/../..",
    "a/b/c",
  ];

  it("proxies accept the snapshot of an Ingress with any value in an annotation", () => {
    const known: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = annotationCases;
    for (const [key, { name }] of annotations) {
      const values = [...(known[name] ?? []).map(([value]) => value), ...hostileTexts];
      const ingresses = values.flatMap((value, index): readonly KubeObject[] => {
        const backend = { service: { name: "web", port: { number: 80 } } };
        const paths = ["Prefix", "ImplementationSpecific"].map((pathType) => ({
          path: `/${pathType}`,
          pathType,
          backend,
        }));
        const ingress = (prefix: string, texts: Readonly<Record<string, string>>): KubeObject => ({
          apiVersion: "networking.k8s.io/v1",
          kind: "Ingress",
          metadata: { namespace: "shop", name: `${prefix}${index}`, annotations: texts },
          ...{
            spec: { ingressClassName: "svc", rules: [{ host: `i${index}.example.com`, http: { paths } }] },
          },
        });
        // The second one has the paths where the first one is a canary.
        return [ingress("a", { [key]: value }), ingress("b", {})];
      });
      const ourClass: KubeObject = {
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        metadata: { name: "svc" },
        ...{ spec: { controller: "svc-labs.dev/gateway-controller" } },
      };
      const translation = translate(createWorld([ourClass, ...ingresses]), defaultTranslateSettings);
      expect(translation.routing.hosts.length, key).to.equal(values.length);
      expectTaken(translation, key);
    }
  });
});
