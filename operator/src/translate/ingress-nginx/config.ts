/** The settings of ingress-nginx's ConfigMap that are not defaults of annotations. See docs/ingress-nginx.md. */
import type { HeaderField } from "@svc-gateway/common/features/header-modifier.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { Diagnostic } from "../finding.ts";
import type { Risk } from "./annotations/declare.ts";

/** The typed values of keys. Each is the built-in one unless the ConfigMap, or the class, sets it. */
export type ConfigKeys = {
  readonly annotationsRiskLevel: Risk;
  /** Whether snippets are allowed. If so, their header fields are served. */
  readonly allowSnippetAnnotations: boolean;
  readonly hsts: boolean;
  readonly hstsMaxAge: number;
  readonly hstsIncludeSubdomains: boolean;
  readonly hstsPreload: boolean;
  readonly httpRedirectCode: 301 | 302 | 307 | 308;
  /** Prefixes of paths that are not redirected to https. */
  readonly noTlsRedirectLocations: readonly string[];
  /** The statuses of requests above a rate, and above a number of requests in progress. */
  readonly limitReqStatusCode: number;
  readonly limitConnStatusCode: number;
  /** The lower-case name of the header whose value limits count by; undefined for the address of the client. */
  readonly limitConnZoneHeader: string | undefined;
  /** Prefixes of paths that need no credentials. */
  readonly noAuthLocations: readonly string[];
  /** Whether peers in `proxyRealIpCidr` determine the client's address as well as scheme, host and port. */
  readonly useForwardedHeaders: boolean;
  /** Whether these peers determine only the address. */
  readonly enableRealIp: boolean;
  /** Canonical ranges; undefined for every peer. */
  readonly proxyRealIpCidr: readonly string[] | undefined;
  readonly forwardedForHeader: string;
  /** Whether `X-Forwarded-For` is extended instead of replaced. */
  readonly computeFullForwardedFor: boolean;
  readonly generateRequestId: boolean;
  readonly enableUnderscoresInHeaders: boolean;
  readonly ignoreInvalidHeaders: boolean;
  readonly proxyAddOriginalUriHeader: boolean;
  readonly allowBackendServerHeader: boolean;
  /** The lower-case names of headers that `custom-headers` may set. */
  readonly globalAllowedResponseHeaders: readonly string[];
  /** Whether requests of every method are retried on another endpoint. */
  readonly retryNonIdempotent: boolean;
  /** Canonical ranges whose clients are rejected on all hosts. */
  readonly blockCidrs: readonly string[];
  /** Fields that are removed from responses of backends. */
  readonly hideHeaders: readonly string[];
  /** ConfigMaps with fields for all responses, and for all requests to backends. */
  readonly addHeaders: NamespacedName | undefined;
  readonly proxySetHeaders: NamespacedName | undefined;
  readonly disableAccessLog: boolean;
  readonly disableHttpAccessLog: boolean;
  readonly useGzip: boolean;
  readonly enableBrotli: boolean;
  readonly gzipLevel: number;
  readonly gzipMinLength: number;
  readonly gzipTypes: readonly string[];
};

/** The content of a ConfigMap. */
export type NginxConfig = {
  readonly keys: ConfigKeys;
  /** Defaults of annotations, by name without prefix, parsed by the form of the annotation. */
  readonly defaults: ReadonlyMap<string, unknown>;
  /** The features of all routes of its classes. */
  readonly features?: RouteFeatures;
  /** Request fields of all routes whose values have variables of the Ingress or of the Service of the path. */
  readonly fieldsOfPath?: readonly HeaderField[];
  /** The reason why every request to its classes is answered 503; absent if it is not. */
  readonly closes?: string;
  /**
   * A protection that this gateway does not support, beginning with its key. Every request to its classes is answered
   * 503, except of those with `whenUnprotected: serve`.
   */
  readonly unprotected?: string;
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

/** The settings that apply without a ConfigMap. */
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
    disableHttpAccessLog: false,
    useGzip: false,
    enableBrotli: false,
    gzipLevel: 1,
    gzipMinLength: 256,
    gzipTypes: defaultGzipTypes,
  },
  defaults: new Map(),
  diagnostics: [],
};
