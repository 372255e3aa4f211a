/** Tests that requests have shown everything that docs/reference/ingress-nginx-annotations.md states. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { annotationGroups } from "@svc-gateway/operator/translate/ingress-nginx/annotations/index.ts";
import { expect } from "chai";
import { readCorpus } from "./cases.ts";
import { readRules } from "./rule-cases.ts";

const key = (name: string): string => `nginx.ingress.kubernetes.io/${name}`;

/** Files of tests that send requests, as texts: they name annotations without their prefix, in quotes or as properties. */
const programs: string = ["./", "nginx/"]
  .flatMap((folder) => {
    const url = new URL(folder, import.meta.url);
    return readdirSync(url)
      .filter((file) => file.endsWith(".test.ts") && !["coverage.test.ts", "rules.test.ts"].includes(file))
      .map((file) => readFileSync(new URL(file, url), "utf8"));
  })
  .join("\n");

/** The cases that send requests, as text. */
const asked: string = JSON.stringify(
  [...readRules().flatMap(({ cases }) => cases), ...readCorpus(), ...readCorpus("documentation")].filter(
    ({ requests }) => requests.length > 0,
  ),
);

const isAsked = (name: string): boolean =>
  asked.includes(`"${key(name)}":`) || new RegExp(`["' ]${name}"?:`).test(programs);

/**
 * Annotations whose effect no answer shows, or only after a time. They have a golden case, and a test of the data plane
 * in the file given here.
 */
const shownElsewhere: Readonly<Record<string, string>> = {
  "limit-rate": "proxy/test/filters/response-pace.test.ts",
  "limit-rate-after": "proxy/test/filters/response-pace.test.ts",
  "proxy-next-upstream-timeout": "proxy/test/http/retries-time.test.ts",
  "proxy-ssl-server-name": "proxy/test/upstream/tls/connections.test.ts",
  "proxy-ssl-verify-depth": "proxy/test/upstream/tls/connections.test.ts",
  "enable-access-log": "proxy/test/integration/access-log.test.ts",
};

describe("the table of annotations", () => {
  const served = annotationGroups
    .flatMap(({ annotations }) => annotations)
    .filter((one) => one.served === "served" || one.served === "differently");

  it("every annotation that is served has a case in which a request shows what it does, or a test of the data plane", () => {
    const missing = served.map(({ name }) => name).filter((name) => !isAsked(name));
    expect(missing.sort()).to.deep.equal(Object.keys(shownElsewhere).sort());
    for (const file of Object.values(shownElsewhere)) {
      expect(existsSync(new URL(`../../../${file}`, import.meta.url)), file).to.equal(true);
    }
  });
});
