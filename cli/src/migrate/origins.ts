/** Maps properties of routes to the settings of ingress-nginx from which they result. */
import type { FeatureSlug } from "@svc-gateway/common/features/registry.ts";
import { isWithin } from "./difference.ts";

/** The annotations of each feature, by names without prefix; the first represents the default if none is set. */
const ofFeatures: { readonly [S in FeatureSlug]: readonly string[] } = {
  "trust-forwarded-for": ["use-forwarded-headers"],
  "forwarding-fields": ["proxy-add-original-uri-header"],
  "error-pages": ["custom-http-errors", "default-backend", "disable-proxy-intercept-errors"],
  "closed-paths": ["server-snippet", "configuration-snippet"],
  "ip-access-control": ["whitelist-source-range", "allowlist-source-range", "denylist-source-range"],
  "rate-limit": [
    "limit-rps",
    "limit-rpm",
    "limit-connections",
    "limit-burst-multiplier",
    "limit-allowlist",
    "limit-whitelist",
    "limit-rate",
    "limit-rate-after",
  ],
  "max-body-size": ["proxy-body-size"],
  "auth-basic-secret": ["auth-type", "auth-secret", "auth-secret-type", "auth-realm"],
  "mirror-target": ["mirror-target", "mirror-host", "mirror-request-body"],
  "auth-jwt": [],
  "ext-auth": [
    "auth-url",
    "auth-signin",
    "auth-signin-redirect-param",
    "auth-method",
    "auth-response-headers",
    "auth-proxy-set-headers",
    "auth-request-redirect",
    "auth-always-set-cookie",
    "auth-cache-key",
    "auth-cache-duration",
    "auth-snippet",
    "enable-global-auth",
  ],
  satisfy: ["satisfy"],
  "request-headers": [
    "configuration-snippet",
    "upstream-vhost",
    "connection-proxy-header",
    "x-forwarded-prefix",
  ],
  "response-headers": [
    "hsts",
    "custom-headers",
    "configuration-snippet",
    "server-snippet",
    "proxy-cookie-domain",
    "proxy-cookie-path",
    "proxy-redirect-from",
    "proxy-redirect-to",
  ],
  cors: [
    "enable-cors",
    "cors-allow-origin",
    "cors-allow-methods",
    "cors-allow-headers",
    "cors-allow-credentials",
    "cors-expose-headers",
    "cors-max-age",
  ],
  redirect: [
    "permanent-redirect",
    "permanent-redirect-code",
    "temporal-redirect",
    "temporal-redirect-code",
    "app-root",
    "relative-redirects",
    "from-to-www-redirect",
  ],
  retry: ["proxy-next-upstream", "proxy-next-upstream-tries", "proxy-next-upstream-timeout"],
  "rewrite-target": ["rewrite-target", "x-forwarded-prefix", "upstream-vhost", "use-regex"],
  "ssl-redirect": ["ssl-redirect", "force-ssl-redirect", "preserve-trailing-slash", "use-port-in-redirects"],
  timeouts: ["proxy-read-timeout", "proxy-send-timeout", "proxy-connect-timeout"],
  compression: ["use-gzip"],
};

const ofClients = [
  "auth-tls-secret",
  "auth-tls-verify-client",
  "auth-tls-verify-depth",
  "auth-tls-pass-certificate-to-upstream",
  "auth-tls-error-page",
  "auth-tls-match-cn",
];

/** The annotations of properties for which `ofFeatures` is not precise enough, and of those outside of features. */
const ofProperties: readonly (readonly [string, readonly string[]])[] = [
  ["features.response-headers.setOverTls", ["hsts"]],
  ["features.response-headers.set", ["custom-headers", "configuration-snippet", "server-snippet"]],
  ["features.response-headers.remove", ["allow-backend-server-header", "configuration-snippet"]],
  ["features.response-headers.cookieDomain", ["proxy-cookie-domain"]],
  ["features.response-headers.cookiePath", ["proxy-cookie-path"]],
  ["features.response-headers.location", ["proxy-redirect-from", "proxy-redirect-to"]],
  ["features.timeouts.connectTimeoutMs", ["proxy-connect-timeout"]],
  ["features.timeouts.readGapMs", ["proxy-read-timeout"]],
  ["features.timeouts.sendGapMs", ["proxy-send-timeout"]],
  ["features.ssl-redirect.cutSlash", ["ssl-redirect", "force-ssl-redirect", "preserve-trailing-slash"]],
  ["features.auth-basic-secret[0].realm", ["auth-realm"]],
  ["features.auth-basic-secret[0].htpasswd", ["auth-secret"]],
  ["features.auth-basic-secret[0].hidesCredentials", ["auth-type"]],
  ["features.ext-auth[0].url.signIn", ["auth-signin"]],
  ["features.ext-auth[0].url.cache", ["auth-cache-key"]],
  ["features.ext-auth[0].url.alwaysSetsCookie", ["auth-always-set-cookie"]],
  ["features.cors.allowOrigins", ["cors-allow-origin"]],
  ["features.cors.allowMethods", ["cors-allow-methods", "enable-cors"]],
  ["features.cors.allowHeaders", ["cors-allow-headers", "enable-cors"]],
  ["features.cors.exposeHeaders", ["cors-expose-headers"]],
  ["features.cors.maxAgeSeconds", ["cors-max-age", "enable-cors"]],
  ["features.cors.onEveryResponse", ["enable-cors"]],
  ["features.cors.early", ["enable-cors"]],
  ["features.rewrite-target.path", ["rewrite-target"]],
  ["features.rewrite-target.hostname", ["upstream-vhost"]],
  ["features.rewrite-target.forwardedPrefix", ["x-forwarded-prefix"]],
  ...["clients", "host.clients"].flatMap((property): (readonly [string, readonly string[]])[] => [
    [`${property}.byRequest.mode`, ["auth-tls-verify-client"]],
    [`${property}.byRequest.errorPage`, ["auth-tls-error-page"]],
    [`${property}.byRequest.subject`, ["auth-tls-match-cn"]],
    [`${property}.maxIntermediates`, ["auth-tls-verify-depth"]],
    [`${property}.forward`, ["auth-tls-pass-certificate-to-upstream"]],
    [property, ofClients],
  ]),
  [
    "choices",
    [
      "canary",
      "canary-weight",
      "canary-by-header",
      "canary-by-header-value",
      "canary-by-header-pattern",
      "canary-by-cookie",
    ],
  ],
  [
    "affinity",
    [
      "affinity",
      "affinity-mode",
      "affinity-canary-behavior",
      "session-cookie-name",
      "session-cookie-path",
      "session-cookie-domain",
      "session-cookie-expires",
      "session-cookie-max-age",
      "session-cookie-samesite",
      "session-cookie-secure",
      "session-cookie-conditional-samesite-none",
      "session-cookie-change-on-failure",
    ],
  ],
  ["accessLog", ["enable-access-log"]],
  ["passthrough", ["ssl-passthrough"]],
  ["match", ["use-regex", "rewrite-target"]],
  ["order", ["use-regex", "rewrite-target"]],
  ["route", ["server-alias", "from-to-www-redirect", "app-root"]],
  [
    "backends[].balancing",
    ["upstream-hash-by", "upstream-hash-by-subset", "upstream-hash-by-subset-size", "load-balance"],
  ],
  [
    "backends",
    [
      "backend-protocol",
      "service-upstream",
      "proxy-http-version",
      "proxy-ssl-secret",
      "proxy-ssl-verify",
      "proxy-ssl-verify-depth",
      "proxy-ssl-name",
      "proxy-ssl-server-name",
    ],
  ],
  ["host.matchPaths", ["paths"]],
];

/** The settings from which a property results; the one that represents its default is first. */
export function originsOf(property: string): readonly string[] {
  const ofAnyBackend = property.replace(/^backends\[\d+\]/, "backends[]");
  const special = ofProperties.find(([name]) => isWithin(ofAnyBackend, name));
  if (special !== undefined) return special[1];
  const slug = Object.keys(ofFeatures).find((one) => isWithin(property, `features.${one}`));
  return slug === undefined ? ["paths"] : ofFeatures[slug as FeatureSlug];
}
