/** Annotations about authentication by another service. */
import {
  anyTextForm,
  asciiForm,
  booleanForm,
  integerForm,
  linesForm,
  listForm,
  referenceTextForm,
  secondsForm,
  textForm,
  wordForm,
  type Form,
} from "../values.ts";
import { declare, type NginxAnnotation } from "./declare.ts";

const url = asciiForm(
  "URL",
  /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s"'\\;{}]*(?:\$\{?[A-Za-z0-9_]+\}?[^\s"'\\;{}]*)*$/,
  'a URL such as "https://auth.example.com/check"',
);

export const authUrl = declare({
  name: "auth-url",
  form: url,
  bad: "D",
  empty: "O",
  risk: "High",
  scope: "location",
  protective: true,
  shownDefault: "none",
  configKey: "global-auth-url",
  own: ["ext-auth"],
  served: "served",
  meaning: "The URL that is asked about every request: 2xx lets it in.",
  here: "As there.",
});

export const authMethod = declare({
  name: "auth-method",
  form: wordForm(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"]),
  bad: "D",
  risk: "Low",
  scope: "location",
  protective: true,
  shownDefault: "`GET`",
  configKey: "global-auth-method",
  served: "served",
  meaning: "The method of requests to `auth-url`.",
  here: "As there.",
});

export const authSignin = declare({
  name: "auth-signin",
  form: url,
  bad: "I",
  risk: "High",
  scope: "location",
  shownDefault: "none",
  configKey: "global-auth-signin",
  served: "served",
  meaning: "The URL that clients are redirected to instead of 401.",
  here: "As there.",
});

export const authSigninRedirectParam = declare({
  name: "auth-signin-redirect-param",
  form: textForm("word", /^[A-Za-z0-9\-._~]+$/, "a name of a query parameter"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "rd",
  shownDefault: "`rd`",
  configKey: "global-auth-signin-redirect-param",
  served: "served",
  meaning: "The query parameter of `auth-signin` with the URL to return to.",
  here: "As there.",
});

const headerNames = listForm("list of headers", /^[A-Za-z0-9\-_]+$/, "header names with commas");

export const authResponseHeaders = declare({
  name: "auth-response-headers",
  form: headerNames,
  bad: "D",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "none",
  configKey: "global-auth-response-headers",
  served: "served",
  meaning: "Headers of an allowing answer that are sent upstream.",
  here: "As there.",
});

export const authProxySetHeaders = declare({
  name: "auth-proxy-set-headers",
  form: referenceTextForm("[namespace/]name", "a name, or namespace/name"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "none",
  served: "served",
  meaning: "The ConfigMap with headers of requests to `auth-url`.",
  here: "As there.",
});

export const authRequestRedirect = declare({
  name: "auth-request-redirect",
  form: asciiForm("URL", /^[^\s"'\\;{}]+$/, "a URL or a path"),
  bad: "O",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "the URI of the request",
  configKey: "global-auth-request-redirect",
  served: "served",
  meaning: "The value of `X-Auth-Request-Redirect` of requests to `auth-url`.",
  here: "As there.",
});

export const authAlwaysSetCookie = declare({
  name: "auth-always-set-cookie",
  form: booleanForm,
  bad: "O",
  risk: "Low",
  scope: "location",
  protective: true,
  builtIn: false,
  shownDefault: "false",
  configKey: "global-auth-always-set-cookie",
  served: "served",
  meaning: "Whether the cookie of the answer is added to responses of every status.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const authCacheKey = declare({
  name: "auth-cache-key",
  form: anyTextForm("text with variables"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "none: no cache",
  configKey: "global-auth-cache-key",
  served: "served",
  meaning: "The key under which answers of `auth-url` are cached.",
  here: "As there; a key without any part of the client is answered 503 (`SharedAuthCache`).",
});

export const authCacheDuration = declare({
  name: "auth-cache-duration",
  form: listForm(
    "list of `code time`",
    /^(?:any|\d{3})(?: +(?:any|\d{3}))* +(?:\d+(?:ms|[smhdwMy])?)+$|^(?:\d+(?:ms|[smhdwMy])?)+$/,
    'statuses and a time, such as "200 202 401 5m"',
  ),
  bad: "O",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "`200 202 401 5m`",
  configKey: "global-auth-cache-duration",
  served: "served",
  meaning: "The statuses of answers that are cached, and for how long.",
  here: "As there.",
});

export const authSnippet = declare({
  name: "auth-snippet",
  form: linesForm("nginx configuration"),
  bad: "X",
  risk: "Critical",
  scope: "location",
  protective: true,
  shownDefault: "none",
  configKey: "global-auth-snippet",
  served: "served",
  meaning: "Configuration of the request to `auth-url`.",
  here: "Never executed; a statement that protects closes the paths of the Ingress.",
});

const keepalive = <T>(
  name: string,
  form: Form<T>,
  shownDefault: string,
  meaning: string,
): NginxAnnotation<T> => ({
  name: `auth-keepalive${name}`,
  form,
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault,
  served: "no-effect",
  meaning,
  here: "Connections are always kept.",
});

export const authKeepalive = keepalive(
  "",
  integerForm(),
  "0",
  "The connections to `auth-url` that are kept.",
);
export const authKeepaliveRequests = keepalive(
  "-requests",
  integerForm(),
  "1000",
  "The requests that a connection to `auth-url` is used for.",
);
export const authKeepaliveTimeout = keepalive(
  "-timeout",
  secondsForm,
  "60 s",
  "How long an idle connection to `auth-url` is kept.",
);
export const authKeepaliveShareVars = keepalive(
  "-share-vars",
  booleanForm,
  "false",
  "Whether requests to `auth-url` share nginx's variables with the request.",
);

export const enableGlobalAuth = declare({
  name: "enable-global-auth",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: true,
  shownDefault: "true",
  served: "served",
  meaning: "Whether `global-auth-url` of the ConfigMap is asked.",
  here: "As there.",
  isNeutral: (value) => value,
});
