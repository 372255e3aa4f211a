import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { authBasicSecretFilter } from "./auth-basic-secret.ts";
import { extAuthFilter } from "./ext-auth.ts";
import { authJwtFilter } from "./auth-jwt.ts";
import { compressionFilter } from "./compression.ts";
import type { FilterEnvironment } from "./environment.ts";
import type { Filter } from "./filter.ts";
import { corsFilter } from "./cors.ts";
import { ipAccessControlFilter } from "./ip-access-control.ts";
import { maxBodySizeFilter } from "./max-body-size.ts";
import { mirrorTargetFilter } from "./mirror-target.ts";
import { requestHeadersFilter } from "./request-headers.ts";
import { responseHeadersFilter } from "./response-headers.ts";
import { redirectFilter } from "./redirect.ts";
import { rewriteTargetFilter } from "./rewrite-target.ts";
import { retryFilter } from "./retry.ts";
import { sslRedirectFilter } from "./ssl-redirect.ts";
import { timeoutsFilter } from "./timeouts.ts";
import { filterOrder } from "./order.ts";
import { rateLimitFilter } from "./rate-limit.ts";
import { trustForwardedForFilter } from "./trust-forwarded-for.ts";

/** One factory per feature: a feature without a filter does not compile. */
type FilterFactories = {
  readonly [Slug in FeatureSlug]: (
    value: NonNullable<RouteFeatures[Slug]>,
    environment: FilterEnvironment,
  ) => Filter;
};

const factories: FilterFactories = {
  "trust-forwarded-for": trustForwardedForFilter,
  "ip-access-control": ipAccessControlFilter,
  "rate-limit": (value, { rates }) => rateLimitFilter(value, rates),
  "max-body-size": maxBodySizeFilter,
  "auth-basic-secret": (value, { auth }) => authBasicSecretFilter(value, auth),
  "mirror-target": mirrorTargetFilter,
  "auth-jwt": (value, { auth }) => authJwtFilter(value, auth),
  "ext-auth": extAuthFilter,
  "request-headers": requestHeadersFilter,
  "response-headers": responseHeadersFilter,
  cors: corsFilter,
  redirect: redirectFilter,
  retry: retryFilter,
  "rewrite-target": rewriteTargetFilter,
  "ssl-redirect": sslRedirectFilter,
  timeouts: timeoutsFilter,
  compression: (value, { encoders }) => compressionFilter(value, encoders),
};

/** All features in the order in which their filters run. */
const slugsInOrder = (Object.keys(filterOrder) as FeatureSlug[]).toSorted(
  (a, b) => filterOrder[a].at - filterOrder[b].at,
);

const none: readonly Filter[] = [];

/** The features that are set, in the order in which their filters run. */
export const presentFeatures = (features: RouteFeatures = {}): readonly FeatureSlug[] =>
  slugsInOrder.filter((slug) => features[slug] !== undefined);

/** The filters of a route or backend, in order; none for features that it does not have. */
export function compileFilters(
  features: RouteFeatures | undefined,
  environment: FilterEnvironment,
): readonly Filter[] {
  if (features === undefined) return none;
  const filters = presentFeatures(features).flatMap(
    (slug) => compileFilter(slug, features, environment) ?? [],
  );
  return filters.length === 0 ? none : filters;
}

function compileFilter<Slug extends FeatureSlug>(
  slug: Slug,
  features: RouteFeatures,
  environment: FilterEnvironment,
): Filter | undefined {
  const value = features[slug];
  return value === undefined ? undefined : factories[slug](value, environment);
}
