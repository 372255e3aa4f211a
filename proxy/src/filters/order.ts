import type { FeatureSlug } from "@svc-gateway/common/features/registry.ts";

/** Where a feature stands. `at` grows along the request; `why` is the reason for standing there. */
type FilterPlace = { readonly at: number; readonly why: string };

/**
 * THE order of filters, complete by type: a feature without a place does not compile. Response hooks run in the same
 * order, so what a later filter adds to a response is seen by none before it. Places by purpose, with room between:
 *
 * 10 client IP, 20 IP access, 30 rate limit, 40 redirect to https, 50 CORS, 60 declared length, 70 Basic, 80 JWT,
 * 90 external auth of the Gateway, 100 external auth of the route, 110 redirects, 115 session cookie (response),
 * 120 header and path changes, 130 mirror, 140 compression (response).
 *
 * A refusal that costs little comes before one that costs much, and everything that refuses comes before everything
 * that copies or changes the request. See docs/filter-order.md.
 */
export const filterOrder = {
  "trust-forwarded-for": {
    at: 10,
    why: "finds the client's address before anything decides by it",
  },
  "ip-access-control": {
    at: 20,
    why: "refuses by the address alone, which is cheapest, and keeps strangers out of the counts of rate limits",
  },
  "rate-limit": {
    at: 30,
    why: "bounds how often a client can cause all the work that follows, checks of credentials first of all",
  },
  "max-body-size": {
    at: 60,
    why: "refuses by the declared length before credentials are checked and before anything buffers the body",
  },
  "auth-basic-secret": {
    at: 70,
    why: "asks who the client is before anything answers or changes the request on its behalf; the list of users is at hand",
  },
  "mirror-target": {
    at: 130,
    why: "copies only what nothing has refused; the copy is made when all changes, those of the backend too, are done",
  },
  "auth-jwt": {
    at: 80,
    why: "checks a signature, which needs nothing but the keys at hand, before another service is asked about the client",
  },
  "ext-auth": {
    at: 100,
    why: "asks another service only about those whom every check at hand lets pass, and may tell it what tokens said",
  },
  "request-headers": {
    at: 122,
    why: "changes what goes upstream only after everything that reads the request or refuses it has run",
  },
  "response-headers": {
    at: 125,
    why: "has the last word on what other features say in response fields, but sees them before a body is compressed",
  },
  cors: {
    at: 50,
    why: "answers preflights before credentials are asked for, since browsers send none with them",
  },
  redirect: {
    at: 110,
    why: "answers only those whom limits and credentials let pass, and leaves nothing to do for what changes the request",
  },
  "rewrite-target": {
    at: 120,
    why: "changes the path only after everything that decides by it; before the request is copied or sent",
  },
  "ssl-redirect": {
    at: 40,
    why: "leaves cleartext before credentials are asked for, but not for those whom an address rule or a rate limit refuses",
  },
  retry: {
    at: 137,
    why: "repeats the upstream request as everything before it has left it",
  },
  compression: {
    at: 140,
    why: "sees the response as every other feature leaves it, and changes the body last",
  },
  timeouts: {
    at: 135,
    why: "limits the upstream request that is made next; nothing before it is the doing of the upstream",
  },
} as const satisfies Record<FeatureSlug, FilterPlace>;
