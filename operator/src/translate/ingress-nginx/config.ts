/** The settings of ingress-nginx's ConfigMap that are not defaults of annotations. See docs/ingress-nginx.md. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Diagnostic } from "../finding.ts";
import type { Risk } from "./annotations/declare.ts";

/** Typed values of keys; each is the built-in one unless the ConfigMap, or the class, sets it. */
export type ConfigKeys = {
  readonly annotationsRiskLevel: Risk;
  /** Whether snippets were in force: their header fields are served then. */
  readonly allowSnippetAnnotations: boolean;
  readonly hsts: boolean;
  readonly hstsMaxAge: number;
  readonly hstsIncludeSubdomains: boolean;
  readonly hstsPreload: boolean;
  readonly httpRedirectCode: 301 | 302 | 307 | 308;
  /** Beginnings of paths that are not redirected to https. */
  readonly noTlsRedirectLocations: readonly string[];
  /** Statuses above a rate, and above a number of requests in progress. */
  readonly limitReqStatusCode: number;
  readonly limitConnStatusCode: number;
  /** Lower-case name of the header whose value limits count by; undefined: the address of the client. */
  readonly limitConnZoneHeader: string | undefined;
  /** Beginnings of paths that need no credentials. */
  readonly noAuthLocations: readonly string[];
  /** Whether peers in `proxyRealIpCidr` decide about the client's address, and about scheme, host and port. */
  readonly useForwardedHeaders: boolean;
  /** Whether they decide about the address only. */
  readonly enableRealIp: boolean;
  /** Canonical ranges; undefined: every peer. */
  readonly proxyRealIpCidr: readonly string[] | undefined;
  readonly forwardedForHeader: string;
  /** Whether `X-Forwarded-For` is extended instead of replaced. */
  readonly computeFullForwardedFor: boolean;
  readonly generateRequestId: boolean;
  readonly enableUnderscoresInHeaders: boolean;
  readonly ignoreInvalidHeaders: boolean;
  readonly proxyAddOriginalUriHeader: boolean;
  readonly allowBackendServerHeader: boolean;
  /** What `custom-headers` may name, in lower case. */
  readonly globalAllowedResponseHeaders: readonly string[];
  /** Whether requests of every method are sent to another endpoint. */
  readonly retryNonIdempotent: boolean;
  /** Canonical ranges whose clients are rejected on all hosts. */
  readonly blockCidrs: readonly string[];
  /** Fields that responses of backends lose. */
  readonly hideHeaders: readonly string[];
  /** ConfigMaps with fields of all responses, and of all requests to backends. */
  readonly addHeaders: NamespacedName | undefined;
  readonly proxySetHeaders: NamespacedName | undefined;
  readonly disableAccessLog: boolean;
  readonly useGzip: boolean;
  readonly enableBrotli: boolean;
  readonly gzipLevel: number;
  readonly gzipMinLength: number;
  readonly gzipTypes: readonly string[];
};

/** What a ConfigMap says. */
export type NginxConfig = {
  readonly keys: ConfigKeys;
  /** Defaults of annotations, by name without prefix. Each was read by the form of the annotation. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** Features of all routes of its classes. */
  readonly features?: RouteFeatures;
  /** Why every request to its classes is answered 503. */
  readonly closes?: string;
  readonly diagnostics: readonly Diagnostic[];
};

const defaultGzipTypes: readonly string[] = [
  "application/atom+xml",
  "application/javascript",
  "application/json",
  "application/ld+json",
  "application/manifest+json",
  "application/rss+xml",
  "application/vnd.geo+json",
  "application/vnd.ms-fontobject",
  "application/wasm",
  "application/x-font-ttf",
  "application/x-javascript",
  "application/x-web-app-manifest+json",
  "application/xhtml+xml",
  "application/xml",
  "font/opentype",
  "image/bmp",
  "image/svg+xml",
  "image/x-icon",
  "text/css",
  "text/html",
  "text/javascript",
  "text/plain",
  "text/x-component",
];

/** The settings without a ConfigMap. */
export const builtInConfig: NginxConfig = {
  keys: {
    annotationsRiskLevel: "High",
    allowSnippetAnnotations: false,
    hsts: true,
    hstsMaxAge: 31_536_000,
    hstsIncludeSubdomains: true,
    hstsPreload: false,
    httpRedirectCode: 308,
    noTlsRedirectLocations: ["/.well-known/acme-challenge"],
    limitReqStatusCode: 503,
    limitConnStatusCode: 503,
    limitConnZoneHeader: undefined,
    noAuthLocations: ["/.well-known/acme-challenge"],
    useForwardedHeaders: false,
    enableRealIp: false,
    proxyRealIpCidr: undefined,
    forwardedForHeader: "X-Forwarded-For",
    computeFullForwardedFor: false,
    generateRequestId: true,
    enableUnderscoresInHeaders: false,
    ignoreInvalidHeaders: true,
    proxyAddOriginalUriHeader: false,
    allowBackendServerHeader: false,
    globalAllowedResponseHeaders: [],
    retryNonIdempotent: false,
    blockCidrs: [],
    hideHeaders: [],
    addHeaders: undefined,
    proxySetHeaders: undefined,
    disableAccessLog: false,
    useGzip: false,
    enableBrotli: false,
    gzipLevel: 1,
    gzipMinLength: 256,
    gzipTypes: defaultGzipTypes,
  },
  defaults: new Map(),
  diagnostics: [],
};
