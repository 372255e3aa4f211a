/** The relation between annotations of ingress-nginx and those of this gateway, by the features that both set. */
import { isDeepStrictEqual } from "node:util";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { annotations } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { slugOfAnnotation } from "../../../src/translate/features/index.ts";
import { nginxAnnotations } from "../../../src/translate/ingress-nginx/annotations/index.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld } from "../../../src/world.ts";
import { caseNames, readCase, type GoldenCase } from "../golden.ts";
import { prefix } from "./hostile-values.ts";

type Features = Readonly<Record<string, unknown>>;

/** Pairs of an annotation of ingress-nginx and a feature, none of whose annotations replaces it, with the reason. */
const notReplaced: Readonly<Record<string, string>> = {
  "auth-always-set-cookie: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-cache-duration: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-cache-key: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-method: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-proxy-set-headers: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-request-redirect: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-response-headers: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-signin-redirect-param: ext-auth": "has no effect without auth-url, which is replaced",
  "auth-signin: ext-auth": "has no effect without auth-url, which is replaced",
  "limit-allowlist: rate-limit":
    "has no effect without limit-rps or limit-rpm, which are replaced, and refines limit-connections",
  "limit-burst-multiplier: rate-limit":
    "has no effect without limit-rps or limit-rpm, which are replaced, and refines limit-connections",
  "limit-whitelist: rate-limit":
    "has no effect without limit-rps or limit-rpm, which are replaced, and refines limit-connections",
  "mirror-host: mirror-target": "has no effect without mirror-target, which is replaced",
  "mirror-request-body: mirror-target": "has no effect without mirror-target, which is replaced",
  "preserve-trailing-slash: ssl-redirect": "has no effect without ssl-redirect, which is replaced",
  "use-port-in-redirects: ssl-redirect": "has no effect without ssl-redirect, which is replaced",
  "x-forwarded-prefix: rewrite-target": "has no effect without rewrite-target, which is replaced",
  "configuration-snippet: response-headers": "holds any number of statements",
  "disable-proxy-intercept-errors: error-pages":
    "narrows the pages of either; this gateway has no such setting",
  "enable-global-auth: ext-auth": "concerns global-auth-url of the ConfigMap",
  "limit-connections: rate-limit": "limits requests in progress, besides a RateLimit",
  "limit-rate-after: rate-limit": "concerns limit-rate",
  "limit-rate: rate-limit": "limits bytes in a second, besides a RateLimit",
  "relative-redirects: redirect": "concerns the form of redirects; this gateway has no such setting",
  "server-snippet: closed-paths": "closes paths in addition to those of closed-paths",
  "upstream-vhost: request-headers": "sets one header, and request-header-set may set others",
};

const slugsWithAnnotations: ReadonlySet<unknown> = new Set(
  [...annotations.values()].map(({ name }) => slugOfAnnotation(name)),
);

/** The features of every route by host and id. */
function featuresOf(objects: readonly KubeObject[], { settings }: GoldenCase): ReadonlyMap<string, Features> {
  const { routing } = translate(createWorld(objects), settings);
  return new Map(
    routing.hosts.flatMap(({ host, value }) =>
      value.routes.map((route) => [`${host.host} ${route.id}`, route.features ?? {}] as const),
    ),
  );
}

/** A feature of every route that is not closed. */
const always = "forwarding-fields";

/** The features that differ between two translations, in routes that both have and that neither closes. */
const changedIn = (
  before: ReadonlyMap<string, Features>,
  after: ReadonlyMap<string, Features>,
): ReadonlySet<string> =>
  new Set(
    [...before].flatMap(([id, features]) => {
      const others = after.get(id) ?? features;
      const slugs = always in features && always in others ? Object.keys({ ...features, ...others }) : [];
      return slugs.filter((slug) => !isDeepStrictEqual(features[slug], others[slug]));
    }),
  );

/**
 * The features that each annotation sets: those that change if it is removed from an Ingress of a golden case. Once an
 * annotation is known to set a feature, further cases are skipped.
 */
function featuresByAnnotation(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const name of caseNames().filter((one) => one.startsWith("nginx-") && !one.includes("invalid"))) {
    const golden = readCase(name);
    const objects: readonly KubeObject[] = Object.values(golden.world).flat();
    const before = featuresOf(objects, golden);
    for (const object of objects.filter(({ kind }) => kind === "Ingress")) {
      const { annotations: written = {} } = object.metadata;
      for (const key of Object.keys(written)) {
        const annotation = key.startsWith(prefix) ? key.slice(prefix.length) : "";
        if (!nginxAnnotations.has(annotation) || found.has(annotation)) continue;
        const { [key]: _, ...rest } = written;
        const without = { ...object, metadata: { ...object.metadata, annotations: rest } };
        const after = featuresOf(
          objects.map((one) => (one === object ? without : one)),
          golden,
        );
        const changed = changedIn(before, after);
        if (changed.size > 0) found.set(annotation, changed);
      }
    }
  }
  return found;
}

describe("annotations of ingress-nginx and of this gateway for the same feature", () => {
  it("an annotation of ingress-nginx is replaced by annotations of this gateway for its feature, or has a reason", function () {
    this.timeout(60_000);
    const byAnnotation = featuresByAnnotation();
    expect(byAnnotation.size).to.be.greaterThan(60);
    const missing = [...byAnnotation].flatMap(([name, slugs]) => {
      const replacing: readonly unknown[] = (nginxAnnotations.get(name)?.own ?? []).map(slugOfAnnotation);
      return [...slugs]
        .filter((slug) => slugsWithAnnotations.has(slug) && !replacing.includes(slug))
        .map((slug) => `${name}: ${slug}`);
    });
    expect(missing.sort()).to.deep.equal(Object.keys(notReplaced).sort());
  });

  it("an annotation of ingress-nginx is replaced by one of this gateway of the same name, or of its feature", () => {
    const missing = [...nginxAnnotations.values()].filter(({ name, own = [] }) => {
      const slug = slugOfAnnotation(name);
      const isOfFeature = slug !== undefined && own.some((one) => slugOfAnnotation(one) === slug);
      return annotations.has(annotationKey({ name })) && !own.includes(name) && !isOfFeature;
    });
    expect(missing.map(({ name }) => name)).to.deep.equal([]);
  });
});
