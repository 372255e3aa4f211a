/** Annotations about error pages, response headers, logs, mirrors, tracing and ModSecurity. */
import {
  anyTextForm,
  asciiForm,
  booleanForm,
  linesForm,
  listForm,
  onOffForm,
  referenceTextForm,
  textForm,
} from "../values.ts";
import { declare, type NginxAnnotation } from "./declare.ts";

export const customHttpErrors = declare({
  name: "custom-http-errors",
  own: ["error-pages"],
  form: listForm("list of statuses", /^[45]\d\d$/, "statuses from 400 to 599 with commas"),
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "of the ConfigMap",
  configKey: "custom-http-errors",
  served: "served",
  meaning: "The statuses that are answered by the default backend instead.",
  here: "As there.",
});

export const disableProxyInterceptErrors = declare({
  name: "disable-proxy-intercept-errors",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  configKey: "disable-proxy-intercept-errors",
  served: "served",
  meaning: "Whether errors of backends are left alone by `custom-http-errors`.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const customHeaders = declare({
  name: "custom-headers",
  form: referenceTextForm("namespace/name", "namespace/name"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "The ConfigMap with headers that every response gets.",
  here: "As there; a ConfigMap of another namespace needs a ReferenceGrant.",
});

export const enableAccessLog = declare({
  name: "enable-access-log",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: true,
  shownDefault: "true",
  served: "served",
  meaning: "Whether requests are written to the access log.",
  here: "As there.",
  isNeutral: (value) => value,
});

export const enableRewriteLog = declare({
  name: "enable-rewrite-log",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  served: "no-effect",
  meaning: "Whether nginx logs how it rewrites paths.",
  here: "`explain` shows how a request is routed and rewritten.",
});

export const mirrorTarget = declare({
  name: "mirror-target",
  form: asciiForm("URL", /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s"'\\;]+$/, "a URL"),
  bad: "I",
  risk: "High",
  scope: "location",
  shownDefault: "none",
  own: ["mirror-target"],
  served: "served",
  meaning: "The URL that copies of all requests are sent to.",
  here: "As there, to Services and to hosts that this gateway serves, without credentials; a slow target never slows the request down.",
});

export const mirrorHost = declare({
  name: "mirror-host",
  form: asciiForm("host", /^[^\s"'\\;{}]+$/, "a host name"),
  bad: "I",
  risk: "High",
  scope: "location",
  shownDefault: "the host of the URL",
  served: "served",
  meaning: "The `Host` of copies.",
  here: "As there.",
});

export const mirrorRequestBody = declare({
  name: "mirror-request-body",
  form: onOffForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: true,
  shownDefault: "`on`",
  served: "served",
  meaning: "Whether copies have the body of the request.",
  here: "As there.",
  isNeutral: (value) => value,
});

const tracing = (name: string, meaning: string, here: string): NginxAnnotation<boolean> => ({
  name,
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault: "of the ConfigMap",
  configKey: name,
  served: "no-effect",
  meaning,
  here,
  isNeutral: (value) => !value,
});

export const enableOpentelemetry = tracing(
  "enable-opentelemetry",
  "Whether requests are traced with OpenTelemetry.",
  "Traces are for the operator to enable, with `--tracing-endpoint`, for all Ingresses of a class (`TracingUnsupported`).",
);
export const opentelemetryTrustIncomingSpan = tracing(
  "opentelemetry-trust-incoming-span",
  "Whether traces of clients are continued.",
  "`--tracing-trusted-cidrs` and `--tracing-follow-caller` say it; without `--tracing-endpoint`, `traceparent` is sent upstream unchanged.",
);

export const opentelemetryOperationName = declare({
  name: "opentelemetry-operation-name",
  form: textForm("word", /^[A-Za-z0-9_-]+$/, "a word"),
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "of the ConfigMap",
  configKey: "opentelemetry-operation-name",
  served: "no-effect",
  meaning: "The name of the spans of requests.",
  here: "Spans have the names that OpenTelemetry's conventions for HTTP give them.",
});

export const enableModsecurity = declare({
  name: "enable-modsecurity",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "of the ConfigMap",
  configKey: "enable-modsecurity",
  served: "refused",
  meaning: "Whether ModSecurity inspects requests.",
  here: "There is no ModSecurity. Without `SecRuleEngine On` it only writes a log in ingress-nginx, so requests are served.",
  isNeutral: (value) => !value,
});

export const enableOwaspCoreRules = declare({
  name: "enable-owasp-core-rules",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  protective: true,
  builtIn: false,
  shownDefault: "of the ConfigMap",
  configKey: "enable-owasp-modsecurity-crs",
  served: "refused",
  meaning: "Whether ModSecurity uses the OWASP core rule set.",
  here: "There is no ModSecurity, and whether the rules would block is not known.",
  isNeutral: (value) => !value,
});

export const modsecurityTransactionId = declare({
  name: "modsecurity-transaction-id",
  form: anyTextForm("text with variables"),
  bad: "I",
  risk: "High",
  scope: "location",
  shownDefault: "none",
  served: "refused",
  meaning: "The id of requests in ModSecurity's log.",
  here: "There is no ModSecurity and no log of it; `X-Request-ID` is in the access log.",
});

export const modsecuritySnippet = declare({
  name: "modsecurity-snippet",
  form: linesForm("ModSecurity rules"),
  bad: "I",
  risk: "Critical",
  scope: "location",
  protective: true,
  shownDefault: "of the ConfigMap",
  served: "served",
  shownServed: "refused",
  meaning: "Rules of ModSecurity.",
  here: "There is no ModSecurity: with `SecRuleEngine On` requests get 503, other rules only write a log and have no effect.",
});
