import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { authBasicSecretFilter } from "./auth-basic-secret.ts";
import { authJwtFilter } from "./auth-jwt.ts";
import { compressionFilter } from "./compression.ts";
import { corsFilter } from "./cors.ts";
import type { FilterEnvironment } from "./environment.ts";
import { extAuthFilter } from "./ext-auth.ts";
import type { Filter } from "../exchange/filter.ts";
import { ipAccessControlFilter } from "./ip-access-control.ts";
import { maxBodySizeFilter } from "./max-body-size.ts";
import { mirrorTargetFilter } from "./mirror-target.ts";
import { rateLimitFilter } from "./rate-limit.ts";
import { redirectFilter } from "./redirect.ts";
import { requestHeadersFilter } from "./request-headers.ts";
import { responseHeadersFilter } from "./response-headers.ts";
import { retryFilter } from "./retry.ts";
import { rewriteTargetFilter } from "./rewrite-target.ts";
import { sslRedirectFilter } from "./ssl-redirect.ts";
import { timeoutsFilter } from "./timeouts.ts";
import { trustForwardedForFilter } from "./trust-forwarded-for.ts";

/** The filter of a feature: the reason for its place in the order, and what builds it for a route. */
export type FilterStep<Slug extends FeatureSlug = FeatureSlug> = {
  readonly [S in Slug]: {
    readonly slug: S;
    /** Why it runs after the step before it and before the next one. */
    readonly why: string;
    readonly create: (value: NonNullable<RouteFeatures[S]>, environment: FilterEnvironment) => Filter;
  };
}[Slug];

/**
 * The filters of routes, in the order in which they run; response hooks run in the same order, so that no filter sees
 * what a later one adds to a response. A new feature is inserted where its reason puts it: a refusal that costs little
 * comes before one that costs much, and everything that refuses comes before everything that copies or changes the
 * request. docs/filter-order.md is written from this list.
 */
export const filterOrder = [
  {
    slug: "trust-forwarded-for",
    why: "finds the client's address before anything decides by it",
    create: trustForwardedForFilter,
  },
  {
    slug: "ip-access-control",
    why: "refuses by the address alone, which is cheapest, and keeps strangers out of the counts of rate limits",
    create: ipAccessControlFilter,
  },
  {
    slug: "rate-limit",
    why: "bounds how often a client can cause all the work that follows, checks of credentials first of all",
    create: (value, { rates }) => rateLimitFilter(value, rates),
  },
  {
    slug: "ssl-redirect",
    why: "leaves cleartext before credentials are asked for, but not for those whom an address rule or a rate limit refuses",
    create: sslRedirectFilter,
  },
  {
    slug: "cors",
    why: "answers preflights before credentials are asked for, since browsers send none with them",
    create: corsFilter,
  },
  {
    slug: "max-body-size",
    why: "refuses by the declared length before credentials are checked and before anything buffers the body",
    create: maxBodySizeFilter,
  },
  {
    slug: "auth-basic-secret",
    why: "asks who the client is before anything answers or changes the request on its behalf; the list of users is at hand",
    create: (value, { auth }) => authBasicSecretFilter(value, auth),
  },
  {
    slug: "auth-jwt",
    why: "checks a signature, which needs nothing but the keys at hand, before another service is asked about the client",
    create: (value, { auth }) => authJwtFilter(value, auth),
  },
  {
    slug: "ext-auth",
    why: "asks another service only about those whom every check at hand lets pass, and may tell it what tokens said",
    create: extAuthFilter,
  },
  {
    slug: "redirect",
    why: "answers only those whom limits and credentials let pass, and leaves nothing to do for what changes the request",
    create: redirectFilter,
  },
  {
    slug: "rewrite-target",
    why: "changes the path only after everything that decides by it; before the request is copied or sent",
    create: rewriteTargetFilter,
  },
  {
    slug: "request-headers",
    why: "changes what goes upstream only after everything that reads the request or refuses it has run",
    create: requestHeadersFilter,
  },
  {
    slug: "response-headers",
    why: "has the last word on what other features say in response fields, but sees them before a body is compressed",
    create: responseHeadersFilter,
  },
  {
    slug: "mirror-target",
    why: "copies only what nothing has refused; the copy is made when all changes, those of the backend too, are done",
    create: mirrorTargetFilter,
  },
  {
    slug: "timeouts",
    why: "limits the upstream request that is made next; nothing before it is the doing of the upstream",
    create: timeoutsFilter,
  },
  {
    slug: "retry",
    why: "repeats the upstream request as everything before it has left it",
    create: retryFilter,
  },
  {
    slug: "compression",
    why: "sees the response as every other feature leaves it, and changes the body last",
    create: (value, { encoders }) => compressionFilter(value, encoders),
  },
] as const satisfies readonly FilterStep[];

type Ordered = (typeof filterOrder)[number]["slug"];

/** Does not compile where a feature has no place in the order, and names the feature. */
true satisfies [FeatureSlug] extends [Ordered] ? true : Exclude<FeatureSlug, Ordered>;
