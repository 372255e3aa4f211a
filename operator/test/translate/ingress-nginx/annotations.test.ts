import { annotations } from "@svc-gateway/common/features/registry.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import {
  annotationGroups,
  formerAnnotation,
  nginxAnnotations,
  similarAnnotation,
} from "../../../src/translate/ingress-nginx/annotations/index.ts";
import { readValue } from "../../../src/translate/ingress-nginx/value.ts";
import { caseNames, testdata } from "../golden.ts";
import { goldenValues, readInParts } from "./hostile-values.ts";

describe("the annotations of ingress-nginx", () => {
  const all = annotationGroups.flatMap((group) => group.annotations);

  it("the table holds all 138 annotations of ingress-nginx 1.15, each once", () => {
    expect(all).to.have.length(138);
    expect(nginxAnnotations.size).to.equal(138);
  });

  it("every annotation of this gateway that a declaration names exists", () => {
    for (const { own = [] } of all) {
      for (const name of own) expect(annotations.has(annotationKey({ name })), name).to.equal(true);
    }
  });

  it("another spelling names an annotation of the same form", () => {
    for (const { name, aliasOf, form } of all) {
      if (aliasOf !== undefined) expect(nginxAnnotations.get(aliasOf)?.form, name).to.equal(form);
    }
  });

  it("every protective annotation that cannot be read closes the Ingress, or its default is stricter", () => {
    const ignored = all.filter(({ protective, bad }) => protective === true && bad === "I");
    // Each of these is decided by its group: the list is the result of looking at each of them.
    expect(ignored.map(({ name }) => name).sort()).to.deep.equal([
      "auth-cache-key",
      "auth-proxy-set-headers",
      "auth-tls-verify-client",
      "auth-tls-verify-depth",
      "cors-allow-origin",
      "enable-owasp-core-rules",
      "modsecurity-snippet",
      "proxy-ssl-verify",
      "satisfy",
    ]);
  });

  it("every annotation that is not left for later has a golden case", () => {
    const inputs = caseNames()
      .map((name) => readFileSync(new URL(`${name}.in.yaml`, testdata), "utf8"))
      .join("\n");
    const missing = all
      .filter(
        ({ name, served }) =>
          served !== "not-yet" && !inputs.includes(`nginx.ingress.kubernetes.io/${name}:`),
      )
      .map(({ name }) => name);
    expect(missing).to.deep.equal([]);
  });

  it("every annotation has a golden case with a valid value, and with one that cannot be read if there is such", () => {
    const values = goldenValues();
    const without = (isValid: boolean): readonly string[] =>
      all
        .filter(
          (annotation) =>
            !(values.get(annotation.name) ?? []).some(
              (value) => readValue(annotation, value)?.ok === isValid,
            ),
        )
        .map(({ name }) => name);
    expect(without(true)).to.deep.equal([]);
    expect([...without(false)].sort()).to.deep.equal(readInParts);
  });

  it("a name that no longer exists, or never did, has a sentence about what to use instead", () => {
    expect(formerAnnotation("secure-backends")?.instead).to.contain("backend-protocol");
    expect(formerAnnotation("lua-resty-waf-mode")?.instead).to.contain("firewall");
    expect(formerAnnotation("ssl-redirect")).to.equal(undefined);
    expect(similarAnnotation("whitelist-source-ranges")).to.equal("whitelist-source-range");
  });
});
