/**
 * The annotations of ingress-nginx that Traefik's provider `kubernetesIngressNGINX` reads: from its source while 3.7 was
 * developed (pkg/provider/kubernetes/ingress-nginx/annotations.go, commit 0cbca441), with the limits that its documentation of
 * 3.6 names. Read, not tried.
 */
const names = `
affinity affinity-mode allowlist-source-range app-root auth-method auth-realm auth-response-headers auth-secret auth-secret-type
auth-signin auth-tls-pass-certificate-to-upstream auth-tls-secret auth-tls-verify-client auth-type auth-url backend-protocol
client-body-buffer-size cors-allow-credentials cors-allow-headers cors-allow-methods cors-allow-origin cors-expose-headers
cors-max-age custom-headers enable-cors force-ssl-redirect from-to-www-redirect load-balance permanent-redirect
permanent-redirect-code proxy-body-size proxy-buffer-size proxy-buffering proxy-buffers-number proxy-connect-timeout
proxy-max-temp-file-size proxy-next-upstream-timeout proxy-next-upstream-tries proxy-request-buffering proxy-ssl-name
proxy-ssl-secret proxy-ssl-server-name proxy-ssl-verify rewrite-target service-upstream session-cookie-domain
session-cookie-expires session-cookie-max-age session-cookie-name session-cookie-path session-cookie-samesite
session-cookie-secure ssl-passthrough ssl-redirect temporal-redirect temporal-redirect-code upstream-vhost use-regex
whitelist-source-range`;

const limits = new Map([
  ["affinity-mode", "`persistent` only"],
  ["auth-tls-secret", "refused in the handshake"],
  ["auth-tls-verify-client", "refused in the handshake"],
  ["auth-url", "the service gets the request itself"],
  ["backend-protocol", "without `FCGI`, `AUTO_HTTP`"],
  ["custom-headers", "without the list of allowed names"],
  ["enable-cors", "in part"],
  ["force-ssl-redirect", "no opting out per route"],
  ["from-to-www-redirect", "not for wildcards"],
  ["load-balance", "`round_robin` only"],
  ["ssl-redirect", "no opting out per route"],
]);

const read = new Set(names.trim().split(/\s+/));

/** Whether Traefik serves an annotation, for a cell of a table. */
export const inTraefik = (name: string): string => limits.get(name) ?? (read.has(name) ? "yes" : "no");
