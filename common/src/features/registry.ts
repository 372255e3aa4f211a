import { z } from "zod";
import { authBasicSecret } from "./auth-basic-secret.ts";
import { authJwt } from "./auth-jwt.ts";
import { authTls } from "./auth-tls.ts";
import { canary } from "./canary.ts";
import { closedPaths } from "./closed-paths.ts";
import { compression } from "./compression.ts";
import { cors } from "./cors.ts";
import { annotationKey, type AnnotationDefinition } from "./definition.ts";
import { errorPages } from "./error-pages.ts";
import { extAuth } from "./ext-auth.ts";
import { forwardingFields } from "./forwarding-fields.ts";
import { ipAccessControl } from "./ip-access-control.ts";
import { maxBodySize } from "./max-body-size.ts";
import { mirrorTarget } from "./mirror-target.ts";
import { pathNormalize } from "./path-normalize.ts";
import { rateLimit } from "./rate-limit.ts";
import { redirect } from "./redirect.ts";
import { requestHeaders } from "./request-headers.ts";
import { responseHeaders } from "./response-headers.ts";
import { retry } from "./retry.ts";
import { rewriteTarget } from "./rewrite-target.ts";
import { satisfy } from "./satisfy.ts";
import { sslRedirect } from "./ssl-redirect.ts";
import { timeouts } from "./timeouts.ts";
import { trustForwardedFor } from "./trust-forwarded-for.ts";
import { useRegex } from "./use-regex.ts";

/**
 * Every feature that a route (or one of its backends) can have, by slug. A feature has the same name everywhere: its
 * file here, its filter, its page under docs/features/, and its translator if it has one.
 */
export const features = {
  "trust-forwarded-for": trustForwardedFor,
  "forwarding-fields": forwardingFields,
  "error-pages": errorPages,
  "closed-paths": closedPaths,
  "ip-access-control": ipAccessControl,
  "rate-limit": rateLimit,
  "max-body-size": maxBodySize,
  "auth-basic-secret": authBasicSecret,
  "mirror-target": mirrorTarget,
  "auth-jwt": authJwt,
  "ext-auth": extAuth,
  satisfy: satisfy,
  "request-headers": requestHeaders,
  "response-headers": responseHeaders,
  cors: cors,
  redirect: redirect,
  retry: retry,
  "rewrite-target": rewriteTarget,
  "ssl-redirect": sslRedirect,
  timeouts: timeouts,
  compression: compression,
} as const;

/** Options that change how routes are matched. */
export const routingOptions = {
  "use-regex": useRegex,
  "path-normalize": pathNormalize,
  canary: canary,
} as const;

/** Options of the TLS handshakes of hosts, which precede all requests. */
export const tlsOptions = {
  "auth-tls": authTls,
} as const;

export type FeatureSlug = keyof typeof features;

type FeatureShape = { [S in FeatureSlug]: z.ZodOptional<(typeof features)[S]["schema"]> };

const shape = Object.fromEntries(
  Object.entries(features).map(([slug, { schema }]) => [slug, schema.optional()]),
) as FeatureShape;

/** The features of a route in the snapshot. */
export const routeFeaturesSchema = z.object(shape);

export type RouteFeatures = Readonly<z.infer<typeof routeFeaturesSchema>>;

/** Every annotation that an Ingress can have, by its full key. */
export const annotations: ReadonlyMap<string, AnnotationDefinition<unknown>> = new Map(
  [...Object.values(features), ...Object.values(routingOptions), ...Object.values(tlsOptions)]
    .flatMap((owner): AnnotationDefinition<unknown>[] => Object.values(owner.annotations))
    .map((definition) => [annotationKey(definition), definition]),
);
