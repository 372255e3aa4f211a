import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { features, type FeatureSlug, type RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { keepClosed } from "../closures.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { translateAuthBasicSecret } from "./auth-basic-secret.ts";
import { translateAuthJwt } from "./auth-jwt.ts";
import { translateCompression } from "./compression.ts";
import type { FeatureContext } from "./context.ts";
import { translateCors } from "./cors.ts";
import { translateErrorPages } from "./error-pages.ts";
import { translateExtAuth } from "./ext-auth.ts";
import { translateIpAccessControl } from "./ip-access-control.ts";
import { translateMirrorTarget } from "./mirror-target.ts";
import { translateRateLimit } from "./rate-limit.ts";
import { translateRetry } from "./retry.ts";
import { translateSslRedirect } from "./ssl-redirect.ts";
import { translateTrustForwardedFor } from "./trust-forwarded-for.ts";
import { readValueFeature } from "./value-feature.ts";

type Features = typeof features;

/** The features that depend on other objects, so that their declaration does not convert annotations. */
type TranslatedSlug = {
  [S in FeatureSlug]: Features[S] extends { readonly fromAnnotations: unknown } ? never : S;
}[FeatureSlug];

/**
 * The translation of each of these features. The compiler requires an entry for a declaration without
 * `fromAnnotations`.
 */
const translators: {
  readonly [S in TranslatedSlug]: (read: AnnotationReader, context: FeatureContext) => RouteFeatures[S];
} = {
  "auth-basic-secret": translateAuthBasicSecret,
  "auth-jwt": translateAuthJwt,
  compression: translateCompression,
  cors: translateCors,
  "error-pages": translateErrorPages,
  "ext-auth": translateExtAuth,
  "ip-access-control": translateIpAccessControl,
  "mirror-target": translateMirrorTarget,
  "rate-limit": translateRateLimit,
  retry: translateRetry,
  "ssl-redirect": translateSslRedirect,
  "trust-forwarded-for": translateTrustForwardedFor,
};

/** The feature that an annotation belongs to, by its full key. */
const slugOf: ReadonlyMap<string, FeatureSlug> = new Map(
  Object.values(features).flatMap(({ slug, annotations }) =>
    Object.values<{ readonly name: string }>(annotations).map((one) => [annotationKey(one), slug] as const),
  ),
);

/** The feature that an annotation belongs to, by its name without prefix; undefined for options of routing and TLS. */
export const slugOfAnnotation = (name: string): FeatureSlug | undefined =>
  slugOf.get(annotationKey({ name }));

/**
 * The features of an Ingress, which are the same for all its routes; undefined if it has none. `keys` are the
 * annotations that are set on the Ingress or as defaults of its class. They select the features to translate,
 * of which few are used; all others are off.
 */
export function translateFeatures(
  read: AnnotationReader,
  context: FeatureContext,
  keys: readonly string[],
): RouteFeatures | undefined {
  const asked: ReadonlySet<string | undefined> = new Set(keys.map((key) => slugOf.get(key)));
  const found: { [slug: string]: unknown } = {};
  for (const feature of Object.values(features)) {
    if (!asked.has(feature.slug)) continue;
    const value =
      "fromAnnotations" in feature
        ? readValueFeature(feature, read)
        : translators[feature.slug](read, context);
    if (value !== undefined) found[feature.slug] = value;
  }
  // Each value is the result of its feature's declaration or translator.
  return Object.keys(found).length === 0 ? undefined : keepClosed(found as RouteFeatures);
}
