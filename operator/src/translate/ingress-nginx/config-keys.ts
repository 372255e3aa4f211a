/** The keys of ingress-nginx's ConfigMap. See docs/ingress-nginx.md, "ConfigMap". */
import { formatCidr } from "@svc-gateway/common/values/cidr.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { quote } from "../text.ts";
import { nginxAnnotations } from "./annotations/index.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import type { ConfigKeys } from "./config.ts";
import {
  booleanForm,
  integerForm,
  listForm,
  rangesForm,
  referenceForm,
  textForm,
  wordForm,
  type Form,
} from "./values.ts";

/** The effect of a key in this gateway. */
export type ConfigKey =
  /** The default of an annotation. */
  | { readonly type: "default"; readonly annotation: NginxAnnotation }
  /** A setting of its own. With `protective`, a value that cannot be read closes the class. */
  | {
      readonly type: "setting";
      readonly read: (raw: string) => Result<Partial<ConfigKeys>>;
      readonly protective?: true;
    }
  /** Nothing has to be done. A value that does not match `unless` makes a difference, which `say` describes. */
  | { readonly type: "needless"; readonly unless?: RegExp; readonly say?: string }
  /** The setting is not supported. That is an error if it protects. */
  | { readonly type: "refused"; readonly say: string; readonly severity: "warning" | "error" }
  /** nginx's configuration, read as a snippet. */
  | { readonly type: "snippet" };

const setting = <Name extends keyof ConfigKeys>(
  name: Name,
  form: Form<ConfigKeys[Name]>,
  more: { readonly protective?: true } = {},
): ConfigKey => ({
  type: "setting",
  read(raw) {
    const value = form.parse(raw);
    // The property has the type of its form.
    return value.ok ? ok({ [name]: value.value } as unknown as Partial<ConfigKeys>) : value;
  },
  ...more,
});

const map = <From, To>(form: Form<From>, change: (value: From) => Result<To>): Form<To> => ({
  noun: form.noun,
  parse(raw) {
    const value = form.parse(raw);
    return value.ok ? change(value.value) : value;
  },
});

const beginnings = listForm("list of paths", /^\/[^\s]*$/, 'paths that begin with "/"');
const headerNames = listForm("list of header names", /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "header names");
const lowerNames = map(headerNames, (names) => ok(names.map((name) => name.toLowerCase())));
const status = integerForm({ min: 400, max: 599 });
const ranges = map(rangesForm, (list) => ok(list.map(formatCidr)));
const reference = map(referenceForm({ optionalNamespace: false }), ({ namespace = "", name }) =>
  ok({ namespace, name }),
);

const redirectCode: Form<301 | 302 | 307 | 308> = map(integerForm(), (code) =>
  code === 301 || code === 302 || code === 307 || code === 308
    ? ok<301 | 302 | 307 | 308>(code)
    : problem(`${code} is no status of a redirect to https`, "301, 302, 307 or 308"),
);

/** The variable that limits count by: the address, or a header. */
const limitKey: Form<string | undefined> = {
  noun: "variable",
  parse(raw) {
    const text = raw.trim();
    if (text === "$binary_remote_addr" || text === "$remote_addr") return ok(undefined);
    const [, name] = /^\$http_([a-z0-9_]+)$/i.exec(text) ?? [];
    return name === undefined
      ? problem(`${quote(text)} is no variable to count by`, "$binary_remote_addr or $http_<header>")
      : ok(name.toLowerCase().replaceAll("_", "-"));
  },
};

const needless: ConfigKey = { type: "needless" };
const unless = (value: RegExp, say: string): ConfigKey => ({ type: "needless", unless: value, say });
const refused = (say: string, severity: "warning" | "error" = "warning"): ConfigKey => ({
  type: "refused",
  say,
  severity,
});

const isFalse = /^(?:0|f|false)$/i;
const isTrue = /^(?:1|t|true)$/i;

const own: Readonly<Record<string, ConfigKey>> = {
  "annotations-risk-level": setting("annotationsRiskLevel", wordForm(["Low", "Medium", "High", "Critical"])),
  "allow-snippet-annotations": setting("allowSnippetAnnotations", booleanForm),
  hsts: setting("hsts", booleanForm),
  "hsts-max-age": setting("hstsMaxAge", integerForm()),
  "hsts-include-subdomains": setting("hstsIncludeSubdomains", booleanForm),
  "hsts-preload": setting("hstsPreload", booleanForm),
  "http-redirect-code": setting("httpRedirectCode", redirectCode),
  "no-tls-redirect-locations": setting("noTlsRedirectLocations", beginnings),
  "no-auth-locations": setting("noAuthLocations", beginnings, { protective: true }),
  "limit-req-status-code": setting("limitReqStatusCode", status),
  "limit-conn-status-code": setting("limitConnStatusCode", status),
  "limit-conn-zone-variable": setting("limitConnZoneHeader", limitKey, { protective: true }),
  "use-forwarded-headers": setting("useForwardedHeaders", booleanForm),
  "enable-real-ip": setting("enableRealIp", booleanForm),
  "proxy-real-ip-cidr": setting("proxyRealIpCidr", ranges, { protective: true }),
  "forwarded-for-header": setting(
    "forwardedForHeader",
    textForm("header name", /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, "the name of a header"),
  ),
  "compute-full-forwarded-for": setting("computeFullForwardedFor", booleanForm),
  "generate-request-id": setting("generateRequestId", booleanForm),
  "enable-underscores-in-headers": setting("enableUnderscoresInHeaders", booleanForm),
  "ignore-invalid-headers": setting("ignoreInvalidHeaders", booleanForm),
  "proxy-add-original-uri-header": setting("proxyAddOriginalUriHeader", booleanForm),
  "allow-backend-server-header": setting("allowBackendServerHeader", booleanForm),
  "global-allowed-response-headers": setting("globalAllowedResponseHeaders", lowerNames),
  "retry-non-idempotent": setting("retryNonIdempotent", booleanForm),
  "block-cidrs": setting("blockCidrs", ranges, { protective: true }),
  "hide-headers": setting("hideHeaders", headerNames),
  "add-headers": setting("addHeaders", reference),
  "proxy-set-headers": setting("proxySetHeaders", reference),
  "disable-access-log": setting("disableAccessLog", booleanForm),
  "disable-http-access-log": setting("disableHttpAccessLog", booleanForm),
  "use-gzip": setting("useGzip", booleanForm),
  "enable-brotli": setting("enableBrotli", booleanForm),
  "gzip-level": setting("gzipLevel", integerForm({ min: 1, max: 9 })),
  "gzip-min-length": setting("gzipMinLength", integerForm()),
  "gzip-types": setting(
    "gzipTypes",
    map(
      textForm("media types", /^[^\s;,]+(?: +[^\s;,]+)*$/, "media types with blanks between them"),
      (text) => ok(text.toLowerCase().split(/ +/)),
    ),
  ),

  "use-proxy-protocol": unless(isFalse, "--proxy-accept-proxy-protocol says it"),
  "client-header-timeout": unless(/^60$/, "--proxy-client-header-timeout says it"),
  "client-body-timeout": unless(/^60$/, "--proxy-client-body-timeout says it"),
  "keep-alive": unless(/^75$/, "--proxy-client-idle-timeout says it"),
  "keep-alive-requests": needless,
  "ssl-protocols": unless(
    /^(?:TLSv1\.2\s+)?TLSv1\.3$/,
    "TLS 1.2 and 1.3 are accepted; --proxy-tls-min-version says 1.3 alone",
  ),
  "use-http2": unless(isTrue, "HTTP/2 is always offered"),
  "ssl-reject-handshake": unless(
    isTrue,
    "unknown names are rejected unless --ingress-nginx-fallback-certificate is set",
  ),
  "ssl-early-data": unless(isFalse, "early data is not accepted"),
  "server-tokens": unless(isFalse, "the gateway does not name itself"),
  "proxy-ssl-location-only": unless(isFalse, "the settings hold for the paths of an Ingress"),
  "log-format-upstream": refused("the access log is JSON"),
  "skip-access-log-urls": refused("the access log has all requests"),
  "access-log-path": refused("--access-log says where the access log is written"),
  "http-access-log-path": refused("--access-log says where the access log is written"),
  "block-user-agents": refused("user agents are not rejected", "error"),
  "block-referers": refused("referers are not rejected", "error"),
  "allow-cross-namespace-resources": unless(
    isFalse,
    "a ReferenceGrant in the namespace of the target permits it",
  ),
  "annotation-value-word-blocklist": refused(
    "values are not searched for words; nothing in them is executed",
  ),
  "enable-opentelemetry": unless(
    isFalse,
    "use --tracing-endpoint of the proxies, and tracing in the SvcIngressClassParameters of a class",
  ),
  "enable-opentracing": unless(isFalse, "use --tracing-endpoint of the proxies"),
  "enable-modsecurity": unless(isFalse, "there is no ModSecurity to inspect requests"),
  "default-type": needless,
  "strict-validate-path-type": needless,
  "service-upstream": needless,
  "main-snippet": { type: "snippet" },
  "http-snippet": { type: "snippet" },
  "server-snippet": { type: "snippet" },
  "location-snippet": { type: "snippet" },
  "stream-snippet": { type: "snippet" },
  "global-auth-snippet": { type: "snippet" },
  "modsecurity-snippet": { type: "snippet" },
};

/** Keys about nginx itself, and about settings that are fixed here. */
const families =
  /^(?:worker-|max-worker-|proxy-headers-hash-|proxy-stream-|server-name-hash-|map-hash-|variables-hash-|nginx-status-|upstream-keepalive-|client-header-buffer-size$|large-client-header-buffers$|http2-max-|http2-|client-body-buffer-size$|proxy-buffer|proxy-request-buffering$|proxy-busy-|proxy-max-temp|ssl-(?:ciphers|prefer-server-ciphers|dh-param|ecdh-curve|session-|buffer-size)|gzip-disable$|brotli-|enable-aio|aio-|error-log-|log-format-|enable-multi-accept$|reuse-port$|bind-address|disable-ipv6|enable-syslog$|syslog-|geoip|use-geoip|maxmind|lua-|resolver|use-port-in-redirects$|otlp-|otel-|opentelemetry-|opentracing|jaeger-|zipkin-|datadog-|plugins$|debug-connections$|http-redirect-|grpc-buffer|limit-.*-zone|global-rate-limit|relative-|variables-)/;

/** The annotations by the key that sets their default. */
const byKey: ReadonlyMap<string, NginxAnnotation> = new Map(
  [...nginxAnnotations.values()].flatMap((one) =>
    one.configKey === undefined || one.aliasOf !== undefined ? [] : [[one.configKey, one] as const],
  ),
);

/** The names of all individually known keys. */
export const configKeyNames: readonly string[] = [...new Set([...Object.keys(own), ...byKey.keys()])];

/** The effect of a key; undefined if the key is not known. */
export function configKeyOf(name: string): ConfigKey | undefined {
  if (Object.hasOwn(own, name)) return own[name];
  const annotation = byKey.get(name);
  if (annotation !== undefined) return { type: "default", annotation };
  return families.test(name) ? needless : undefined;
}
