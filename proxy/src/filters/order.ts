import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { authBasicSecretFilter } from "./auth-basic-secret.ts";
import { authJwtFilter } from "./auth-jwt.ts";
import { closedPathsFilter } from "./closed-paths.ts";
import { compressionFilter } from "./compression.ts";
import { corsFilter } from "./cors.ts";
import type { FilterEnvironment } from "./environment.ts";
import { errorPagesFilter } from "./error-pages.ts";
import { extAuthFilter } from "./ext-auth.ts";
import type { Filter } from "../exchange/filter.ts";
import { forwardingFieldsFilter } from "./forwarding-fields.ts";
import { ipAccessControlFilter } from "./ip-access-control.ts";
import { maxBodySizeFilter } from "./max-body-size.ts";
import { mirrorTargetFilter } from "./mirror-target.ts";
import { rateLimitFilter } from "./rate-limit.ts";
import { redirectFilter } from "./redirect.ts";
import { requestHeadersFilter } from "./request-headers.ts";
import { responseHeadersFilter } from "./response-headers.ts";
import { retryFilter } from "./retry.ts";
import { rewriteTargetFilter } from "./rewrite-target.ts";
import { satisfyFilter } from "./satisfy.ts";
import { sslRedirectFilter } from "./ssl-redirect.ts";
import { timeoutsFilter } from "./timeouts.ts";
import { trustForwardedForFilter } from "./trust-forwarded-for.ts";

/** One place in the order of filters: the feature, the reason for its place, and the function that builds it. */
export type FilterStep<Slug extends FeatureSlug = FeatureSlug> = {
  readonly [S in Slug]: {
    readonly slug: S;
    /** For a feature with several steps: whether a value runs at this one. If absent, every value does. */
    readonly when?: (value: NonNullable<RouteFeatures[S]>) => boolean;
    /** The reason why the filter runs after the previous step and before the next one. */
    readonly why: string;
    readonly create: (value: NonNullable<RouteFeatures[S]>, environment: FilterEnvironment) => Filter;
  };
}[Slug];

/** Whether a filter that can refuse or redirect runs before the filters that check the client. */
const isEarly = ({ early }: { readonly early?: true | undefined }): boolean => early === true;

/**
 * The filters of routes, in the order in which they run; response hooks run in the same order, so that no filter sees
 * what a later one adds to a response. Insert a new feature by these rules: cheap refusals run before expensive ones,
 * and filters that refuse run before those that copy or change the request. A feature with two places has two steps, of
 * which one runs. docs/filter-order.md is generated from this list.
 */
export const filterOrder = [
  {
    slug: "trust-forwarded-for",
    why: "determines the client's address before other filters use it",
    create: trustForwardedForFilter,
  },
  {
    slug: "forwarding-fields",
    why: "adds the id of the request and drops ambiguous names before other filters read fields or send them to services",
    create: forwardingFieldsFilter,
  },
  {
    slug: "error-pages",
    why: "applies to errors of all following filters, and never answers itself",
    create: errorPagesFilter,
  },
  {
    slug: "max-body-size",
    when: isEarly,
    why: "rejects by the declared length before every other answer where the route says so, as ingress-nginx does",
    create: maxBodySizeFilter,
  },
  {
    slug: "cors",
    when: isEarly,
    why: "answers preflights before every check where the route says so, as ingress-nginx does",
    create: corsFilter,
  },
  {
    slug: "redirect",
    when: isEarly,
    why: "redirects before every check, and before TLS is required, where the route says so, as ingress-nginx does",
    create: redirectFilter,
  },
  {
    slug: "ssl-redirect",
    when: isEarly,
    why: "redirects to TLS before every check where the route says so, as ingress-nginx does",
    create: sslRedirectFilter,
  },
  {
    slug: "closed-paths",
    why: "closes paths for every client, before anything is known of it",
    create: closedPathsFilter,
  },
  {
    slug: "ip-access-control",
    why: "checks only the address, which is cheapest, and keeps rejected clients out of the counters of rate limits",
    create: ipAccessControlFilter,
  },
  {
    slug: "rate-limit",
    why: "limits how often a client can cause the work of the following filters, above all of authentication",
    create: rateLimitFilter,
  },
  {
    slug: "ssl-redirect",
    when: (value) => !isEarly(value),
    why: "redirects to TLS before credentials are requested, but not clients that an address rule or rate limit rejects",
    create: sslRedirectFilter,
  },
  {
    slug: "cors",
    when: (value) => !isEarly(value),
    why: "answers preflights before credentials are required, because browsers send none with them",
    create: corsFilter,
  },
  {
    slug: "max-body-size",
    when: (value) => !isEarly(value),
    why: "rejects by the declared length before credentials are checked and before the body is buffered",
    create: maxBodySizeFilter,
  },
  {
    slug: "auth-basic-secret",
    why: "authenticates the client before the request is answered or changed on its behalf; the list of users is local",
    create: (value, { auth }) => authBasicSecretFilter(value, auth),
  },
  {
    slug: "auth-jwt",
    why: "checks a signature with local keys before another service is called",
    create: (value, { auth }) => authJwtFilter(value, auth),
  },
  {
    slug: "ext-auth",
    why: "calls another service only for requests that pass every local check, and may send it claims of tokens",
    create: extAuthFilter,
  },
  {
    slug: "satisfy",
    why: "runs the checks of addresses and authentication in place of their own filters where one of them is enough",
    create: satisfyFilter,
  },
  {
    slug: "redirect",
    when: (value) => !isEarly(value),
    why: "answers only requests that pass limits and authentication, so that later filters need not change them",
    create: redirectFilter,
  },
  {
    slug: "rewrite-target",
    why: "changes the path after all filters that depend on it, and before the request is copied or sent",
    create: rewriteTargetFilter,
  },
  {
    slug: "request-headers",
    why: "changes the upstream request after all filters that read or reject it",
    create: requestHeadersFilter,
  },
  {
    slug: "response-headers",
    why: "overrides response headers of other features, but runs before the body is compressed",
    create: responseHeadersFilter,
  },
  {
    slug: "mirror-target",
    why: "copies only requests that were not rejected, after all changes, including those of the backend",
    create: mirrorTargetFilter,
  },
  {
    slug: "timeouts",
    why: "limits the upstream request that follows; time spent before it is not caused by the upstream",
    create: timeoutsFilter,
  },
  {
    slug: "retry",
    why: "repeats the upstream request with the changes of all filters before it",
    create: retryFilter,
  },
  {
    slug: "compression",
    why: "receives the response with the changes of all other features, and changes the body last",
    create: (value, { encoders }) => compressionFilter(value, encoders),
  },
] as const satisfies readonly FilterStep[];

type Ordered = (typeof filterOrder)[number]["slug"];

/** Fails to compile if a feature has no place in the order; the error names the feature. */
true satisfies [FeatureSlug] extends [Ordered] ? true : Exclude<FeatureSlug, Ordered>;
