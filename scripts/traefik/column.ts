/** The column on Traefik in docs/reference/ingress-nginx-annotations.md, from `seen.json`, the results of a trial. */
import { readFileSync } from "node:fs";

/**
 * The number of requests with an answer that depends on an annotation, and of those that are answered as by
 * ingress-nginx.
 */
type AnnotationFigures = { readonly asked: number; readonly same: number };

/** The results of a trial; see README.md. */
type TrialFigures = {
  readonly version: string;
  /** The day of the trial, such as `2026-11-28`. */
  readonly date: string;
  /** The number of cases of the corpus, and of those in which every request is answered as by ingress-nginx. */
  readonly corpus: { readonly cases: number; readonly same: number };
  readonly annotations: Readonly<Record<string, AnnotationFigures>>;
};

export const traefikTrial = JSON.parse(
  readFileSync(new URL("seen.json", import.meta.url), "utf8"),
) as TrialFigures;

/** The annotations that the provider of this version reads, according to its source. */
const readNames = new Set(
  `
affinity affinity-canary-behavior allowlist-source-range app-root auth-method auth-realm auth-response-headers auth-secret 
auth-secret-type auth-signin auth-snippet auth-tls-pass-certificate-to-upstream auth-tls-secret auth-tls-verify-client 
auth-type auth-url backend-protocol canary canary-by-cookie canary-by-header canary-by-header-pattern canary-by-header-value 
canary-weight canary-weight-total client-body-buffer-size configuration-snippet cors-allow-credentials cors-allow-headers 
cors-allow-methods cors-allow-origin cors-expose-headers cors-max-age custom-headers custom-http-errors default-backend 
enable-access-log enable-cors enable-global-auth force-ssl-redirect from-to-www-redirect limit-burst-multiplier 
limit-connections limit-rpm limit-rps permanent-redirect permanent-redirect-code proxy-body-size proxy-buffer-size 
proxy-buffering proxy-buffers-number proxy-connect-timeout proxy-http-version proxy-max-temp-file-size proxy-next-upstream 
proxy-next-upstream-timeout proxy-next-upstream-tries proxy-read-timeout proxy-request-buffering proxy-send-timeout 
proxy-ssl-name proxy-ssl-secret proxy-ssl-server-name proxy-ssl-verify rewrite-target server-alias server-snippet 
service-upstream session-cookie-domain session-cookie-expires session-cookie-max-age session-cookie-name session-cookie-path 
session-cookie-samesite session-cookie-secure ssl-passthrough ssl-redirect temporal-redirect temporal-redirect-code 
upstream-hash-by upstream-vhost use-regex whitelist-source-range x-forwarded-prefix 
`
    .trim()
    .split(/\s+/),
);

const cookie = "the cookie has other attributes, or another order of them";
const cors = "preflights get 200 instead of 204, and other responses lack the field";
const limit = "429 instead of 503";
const snippet = "404 for the paths if it has a directive that is not known";

/** The behaviour of Traefik that differs from ingress-nginx in at least one of the cases with the annotation. */
const otherwise = new Map<string, string>([
  ["affinity", cookie],
  ["session-cookie-domain", cookie],
  ["session-cookie-expires", cookie],
  ["session-cookie-max-age", cookie],
  ["session-cookie-name", cookie],
  ["session-cookie-path", cookie],
  ["session-cookie-samesite", cookie],
  ["session-cookie-secure", cookie],
  ["cors-allow-credentials", cors],
  ["cors-allow-headers", cors],
  ["cors-allow-methods", cors],
  ["cors-max-age", cors],
  ["limit-burst-multiplier", limit],
  ["limit-rpm", limit],
  ["limit-rps", limit],
  ["auth-secret", "404 if a line of the file is no user"],
  ["configuration-snippet", snippet],
  ["server-snippet", snippet],
  ["auth-response-headers", "without `Set-Cookie` of the answer"],
  ["auth-tls-secret", "refused in the handshake, without the fields `ssl-client-*`"],
  ["auth-tls-verify-client", "without the fields `ssl-client-*`"],
  ["enable-cors", "preflights get 200 instead of 204"],
  ["force-ssl-redirect", "the URL keeps a slash at its end"],
]);

/** The behaviour of Traefik for an annotation, for a cell of a table. */
export function inTraefik(name: string): string {
  if (!readNames.has(name)) return "not read";
  const { asked, same } = traefikTrial.annotations[name] ?? { asked: 0, same: 0 };
  if (asked === 0) return "read, not tried";
  const note = otherwise.get(name);
  return `${same} of ${asked}${note === undefined ? "" : `: ${note}`}`;
}
