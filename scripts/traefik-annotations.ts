/**
 * The annotations of ingress-nginx that Traefik's provider `kubernetesIngressNGINX` reads, with their limits: as its documentation of
 * 3.7 lists them on the page of the provider. Read, not tried.
 */
const names = `
affinity affinity-canary-behavior affinity-mode allowlist-source-range app-root auth-method auth-realm auth-response-headers auth-secret
auth-secret-type auth-signin auth-snippet auth-tls-pass-certificate-to-upstream auth-tls-secret auth-tls-verify-client
auth-tls-verify-depth auth-type auth-url backend-protocol canary canary-by-cookie canary-by-header canary-by-header-pattern
canary-by-header-value canary-weight canary-weight-total client-body-buffer-size configuration-snippet cors-allow-credentials
cors-allow-headers cors-allow-methods cors-allow-origin cors-expose-headers cors-max-age custom-headers custom-http-errors
default-backend enable-access-log enable-cors enable-global-auth force-ssl-redirect from-to-www-redirect limit-burst-multiplier
limit-connections limit-rpm limit-rps permanent-redirect permanent-redirect-code proxy-body-size proxy-buffer-size proxy-buffering
proxy-buffers-number proxy-connect-timeout proxy-http-version proxy-max-temp-file-size proxy-next-upstream
proxy-next-upstream-timeout proxy-next-upstream-tries proxy-read-timeout proxy-request-buffering proxy-send-timeout proxy-ssl-name
proxy-ssl-secret proxy-ssl-server-name proxy-ssl-verify rewrite-target server-alias server-snippet service-upstream
session-cookie-domain session-cookie-expires session-cookie-max-age session-cookie-name session-cookie-path session-cookie-samesite
session-cookie-secure ssl-passthrough ssl-redirect temporal-redirect temporal-redirect-code upstream-hash-by upstream-vhost use-regex
whitelist-source-range x-forwarded-prefix`;

const limits = new Map([
  ["affinity-canary-behavior", "`sticky` only"],
  ["affinity-mode", "`persistent` only"],
  ["auth-snippet", "some directives are executed"],
  ["auth-tls-secret", "refused in the handshake"],
  ["auth-tls-verify-client", "refused in the handshake"],
  ["auth-tls-verify-depth", "read, but every depth is accepted"],
  ["auth-url", "the service gets the request itself"],
  ["backend-protocol", "without `FCGI`, `AUTO_HTTP`"],
  ["configuration-snippet", "some directives are executed"],
  ["custom-headers", "without the list of allowed names"],
  ["enable-cors", "in part"],
  ["force-ssl-redirect", "no opting out per route"],
  ["from-to-www-redirect", "not for wildcards"],
  ["limit-burst-multiplier", "with 429"],
  ["limit-connections", "with 429"],
  ["limit-rpm", "with 429"],
  ["limit-rps", "with 429"],
  ["proxy-http-version", "`1.1` only"],
  ["proxy-next-upstream", "perhaps to the same endpoint"],
  ["server-snippet", "some directives are executed"],
  ["ssl-redirect", "no opting out per route"],
  ["upstream-hash-by", "with some of the variables"],
]);

const read = new Set(names.trim().split(/\s+/));

/** How many names it reads. */
export const traefikCount = read.size;

/** Whether Traefik serves an annotation, for a cell of a table. */
export const inTraefik = (name: string): string => limits.get(name) ?? (read.has(name) ? "yes" : "no");
