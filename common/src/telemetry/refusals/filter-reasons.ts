import { reason } from "./reason.ts";

/** Refusals by filters, by the slug of the filter. */
export const filterReasons = {
  "auth-jwt": {
    "token-missing": reason(401, "no token", "No header of the rules has a token."),
    "token-syntax": reason(
      401,
      "token header malformed",
      "What follows the prefix is no single token, such as two of them.",
    ),
    "token-malformed": reason(401, "token malformed", "The token is no JSON Web Token."),
    "token-algorithm": reason(
      401,
      "token algorithm not accepted",
      "`alg` is none that tokens may be signed with.",
    ),
    "token-key": reason(
      401,
      "no key for the token",
      "The key set has no key with the `kid` and `alg` of the token.",
    ),
    "token-signature": reason(401, "token signature invalid", "No key of the token made its signature."),
    "token-expired": reason(401, "token expired", "`exp` was more than a minute ago."),
    "token-not-yet-valid": reason(401, "token not yet valid", "`nbf` is more than a minute ahead."),
    "token-issuer": reason(401, "token of another issuer", "`iss` is missing or not that of the JwtAuth."),
    "token-audience": reason(
      401,
      "token for another audience",
      "`aud` has none of the audiences of the JwtAuth.",
    ),
    "token-claims": reason(401, "token claims invalid", "`exp` is missing, or a claim has the wrong type."),
    "token-checks-busy": reason(503, "too many tokens to check", "Too many signatures waited to be checked."),
    "token-keys-unavailable": reason(
      503,
      "no keys to verify tokens with",
      "The JwtAuth does not exist or is invalid, or its keys were never fetched.",
    ),
  },
  "auth-basic-secret": {
    "credentials-missing": reason(
      401,
      "no valid basic credentials",
      "`Authorization` has no Basic credentials.",
    ),
    "user-unknown": reason(401, "no valid basic credentials", "The list has no user of this name."),
    "password-wrong": reason(401, "no valid basic credentials", "The user exists and has another password."),
    "password-checks-busy": reason(
      503,
      "too many passwords to check",
      "Too many passwords waited to be checked.",
    ),
    "users-unavailable": reason(
      503,
      "list of users unavailable",
      "The Secret does not exist or is unusable.",
    ),
  },
  "ext-auth": {
    "auth-service-denied": reason(
      "any",
      "denied by the authorization service",
      "The service answered so; its status is that of the response.",
    ),
    "auth-service-sign-in": reason(
      302,
      "not signed in",
      "The service answered 401, and there is a page to sign in.",
    ),
    "auth-service-failed": reason(
      "any",
      "authorization service failed",
      "The service gave no valid answer, or one that neither allows nor denies (500 or 503).",
    ),
    "auth-service-timeout": reason(
      503,
      "authorization service failed",
      "The service did not answer in time.",
    ),
    "auth-service-unreachable": reason(
      503,
      "authorization service failed",
      "No connection to the service, or it was lost.",
    ),
    "auth-service-missing": reason(
      503,
      "no authorization service",
      "The service does not exist or has no endpoint.",
    ),
    "auth-service-busy": reason(
      503,
      "too many authorization requests",
      "Too many check requests were under way.",
    ),
    "auth-service-bodies": reason(
      503,
      "too many request bodies held",
      "No memory to hold one more body for the service.",
    ),
    "auth-url-loop": reason(500, "authorization loop", "The check itself would be checked by a URL."),
    "auth-url-malformed": reason(
      500,
      "authorization URL malformed",
      "The variables of the URL result in no host.",
    ),
    "auth-url-not-served": reason(
      503,
      "host of the authorization URL is not served",
      "The gateway does not serve the host of the URL.",
    ),
  },
  "auth-tls": {
    "client-certificate-missing": reason(400, "no client certificate", "The client sent no certificate."),
    "client-certificate-refused": reason(
      400,
      "client certificate refused",
      "The certificate cannot be verified.",
    ),
    "client-certificate-subject": reason(
      403,
      "client certificate of another subject",
      "The subject does not match the pattern.",
    ),
    "client-certificate-without-tls": reason(
      403,
      "client certificate required, connection without TLS",
      "The host requires a certificate, and the connection has no TLS.",
    ),
    "client-certificates-unavailable": reason(
      403,
      "client certificates cannot be verified",
      "The Secret of the certificate authorities is missing or unusable.",
    ),
  },
  "ip-access-control": {
    "address-denied": reason(403, "client address not allowed", "The address is in a denied range."),
    "address-not-allowed": reason(403, "client address not allowed", "The address is in no allowed range."),
    "addresses-unavailable": reason(
      503,
      "list of client addresses unavailable",
      "The list of ranges does not exist.",
    ),
  },
  "rate-limit": {
    "requests-per-second": reason(429, "rate limit exceeded", "The rate in requests per second."),
    "requests-per-minute": reason(429, "rate limit exceeded", "The rate in requests per minute."),
    "requests-per-period": reason(429, "rate limit exceeded", "The rate of another period."),
    "requests-in-progress": reason(
      429,
      "too many requests in progress",
      "The requests of the client in progress.",
    ),
  },
  "max-body-size": {
    "body-too-large": reason(
      413,
      "request body too large",
      "The declared or received body is over the limit.",
    ),
  },
  "closed-paths": {
    "path-closed": reason("any", "path is closed", "The path is one that its owner or the class has closed."),
  },
  "rewrite-target": {
    "rewrite-too-long": reason(
      414,
      "path too long to be rewritten",
      "The path is too long for the regular expression.",
    ),
    "rewrite-not-canonical": reason(
      400,
      "rewritten path is not canonical",
      "The new path is not in normal form.",
    ),
    "rewrite-regex": reason(500, "invalid regular expression", "The regular expression cannot be used."),
  },
  "listener-filters": {
    "listener-filter-unresolved": reason(
      500,
      "listener filter not resolved",
      "A filter of the listener refers to something that does not exist.",
    ),
  },
} as const;
