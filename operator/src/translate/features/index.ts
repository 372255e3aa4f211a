import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { translateAuthBasicSecret } from "./auth-basic-secret.ts";
import { translateExtAuth } from "./ext-auth.ts";
import { translateAuthJwt } from "./auth-jwt.ts";
import type { FeatureContext } from "./context.ts";
import { translateCompression } from "./compression.ts";
import { translateIpAccessControl } from "./ip-access-control.ts";
import { translateMaxBodySize } from "./max-body-size.ts";
import { translateMirrorTarget } from "./mirror-target.ts";
import { translateRateLimit } from "./rate-limit.ts";
import { translateRequestHeaders } from "./request-headers.ts";
import { translateResponseHeaders } from "./response-headers.ts";
import { translateTrustForwardedFor } from "./trust-forwarded-for.ts";
import { translateRedirect } from "./redirect.ts";
import { translateRetry } from "./retry.ts";
import { translateRewriteTarget } from "./rewrite-target.ts";
import { translateSslRedirect } from "./ssl-redirect.ts";
import { translateTimeouts } from "./timeouts.ts";

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

/** The features of an Ingress, the same for all its routes; undefined when it has none. */
export function translateFeatures(
  read: AnnotationReader,
  context: FeatureContext,
): RouteFeatures | undefined {
  const features: { [slug: string]: unknown } = {};
  for (const [slug, translateFeature] of inOrder) {
    const value = translateFeature(read, context);
    if (value !== undefined) features[slug] = value;
  }
  // Each value is what its translator gives.
  return Object.keys(features).length === 0 ? undefined : (features as RouteFeatures);
}
