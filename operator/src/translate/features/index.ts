import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { features, type FeatureSlug, type RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { translateAuthBasicSecret } from "./auth-basic-secret.ts";
import { translateAuthJwt } from "./auth-jwt.ts";
import { translateCompression } from "./compression.ts";
import type { FeatureContext } from "./context.ts";
import { translateExtAuth } from "./ext-auth.ts";
import { translateIpAccessControl } from "./ip-access-control.ts";
import { translateMaxBodySize } from "./max-body-size.ts";
import { translateMirrorTarget } from "./mirror-target.ts";
import { translateRateLimit } from "./rate-limit.ts";
import { translateRedirect } from "./redirect.ts";
import { translateRequestHeaders } from "./request-headers.ts";
import { translateResponseHeaders } from "./response-headers.ts";
import { translateRetry } from "./retry.ts";
import { translateRewriteTarget } from "./rewrite-target.ts";
import { translateSslRedirect } from "./ssl-redirect.ts";
import { translateTimeouts } from "./timeouts.ts";
import { translateTrustForwardedFor } from "./trust-forwarded-for.ts";

/** How an Ingress sets each feature. The compiler asks for an entry per feature of the registry. */
const translators: {
  readonly [S in FeatureSlug]: (read: AnnotationReader, context: FeatureContext) => RouteFeatures[S];
} = {
  "trust-forwarded-for": translateTrustForwardedFor,
  "ip-access-control": translateIpAccessControl,
  "rate-limit": translateRateLimit,
  "max-body-size": translateMaxBodySize,
  "auth-basic-secret": translateAuthBasicSecret,
  "mirror-target": translateMirrorTarget,
  "auth-jwt": translateAuthJwt,
  "ext-auth": translateExtAuth,
  "request-headers": translateRequestHeaders,
  "response-headers": translateResponseHeaders,
  // Set by HTTPRoutes only.
  cors: () => undefined,
  redirect: translateRedirect,
  retry: translateRetry,
  "rewrite-target": translateRewriteTarget,
  "ssl-redirect": translateSslRedirect,
  timeouts: translateTimeouts,
  compression: translateCompression,
};

const inOrder = Object.entries(translators);

/** The feature that an annotation belongs to, by its full key. */
const slugOf: ReadonlyMap<string, string> = new Map(
  Object.values(features).flatMap(({ slug, annotations }) =>
    Object.values<{ readonly name: string }>(annotations).map((one) => [annotationKey(one), slug] as const),
  ),
);

/**
 * The features of an Ingress, the same for all its routes; undefined when it has none. `keys` are the annotations that are
 * set, on the Ingress or as defaults of its class: of the many features few are asked for, and the others are off.
 */
export function translateFeatures(
  read: AnnotationReader,
  context: FeatureContext,
  keys: readonly string[],
): RouteFeatures | undefined {
  const asked = new Set(keys.map((key) => slugOf.get(key)));
  const found: { [slug: string]: unknown } = {};
  for (const [slug, translateFeature] of inOrder) {
    if (!asked.has(slug)) continue;
    const value = translateFeature(read, context);
    if (value !== undefined) found[slug] = value;
  }
  // Each value is what its translator gives.
  return Object.keys(found).length === 0 ? undefined : (found as RouteFeatures);
}
