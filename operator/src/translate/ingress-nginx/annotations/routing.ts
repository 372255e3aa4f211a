/** Annotations about paths, hosts and the backends of an Ingress. */
import { basicCharacters, booleanForm, listForm, referenceForm, textForm, wordForm } from "../values.ts";
import { declare } from "./declare.ts";

const pathExpected = "a path of letters, digits and -._~/:$";
const path = textForm("path", /^[A-Za-z0-9\-._~/:$]+$/, pathExpected);

export const rewriteTarget = declare({
  name: "rewrite-target",
  form: path,
  bad: "I",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  own: ["rewrite-target"],
  served: "served",
  meaning: "The path that requests are sent upstream with; `$1` to `$9` are groups of the path that matched.",
  here: "As there.",
});

export const useRegex = declare({
  name: "use-regex",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "host",
  builtIn: false,
  shownDefault: "false",
  own: ["use-regex"],
  served: "served",
  meaning: "Whether the paths of the host are regular expressions.",
  here: "As there, in RE2 syntax.",
  isNeutral: (value) => !value,
});

export const appRoot = declare({
  name: "app-root",
  form: textForm(
    "absolute path",
    new RegExp(`^/[${basicCharacters}]*$`),
    'a path of letters, digits and -._~/: that starts with "/"',
  ),
  bad: "I",
  risk: "Medium",
  scope: "host",
  shownDefault: "none",
  served: "served",
  meaning: "The path that requests for `/` of the host are redirected to, with status 302.",
  here: "As there.",
});

export const xForwardedPrefix = declare({
  name: "x-forwarded-prefix",
  form: path,
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "The value of the header `X-Forwarded-Prefix` upstream, with `rewrite-target` only.",
  here: "As there.",
});

export const upstreamVhost = declare({
  name: "upstream-vhost",
  form: textForm("host", /^[A-Za-z0-9\-._~/:^$[\](){}*+]+$/, "a host name"),
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "the host of the request",
  served: "served",
  meaning: "The `Host` that requests are sent upstream with.",
  here: "As there.",
});

export const defaultBackend = declare({
  name: "default-backend",
  own: ["error-pages-backend"],
  form: textForm(
    "Service",
    /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/,
    "the name of a Service of the same namespace",
  ),
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning:
    "The Service that answers when the backend of a path has no endpoint, and the errors of `custom-http-errors`.",
  here: "As there.",
});

export const serverAlias = declare({
  name: "server-alias",
  form: listForm("list of hosts", /^[A-Za-z0-9\-.*~^$()[\]|\\+?{}_]+$/, "host names with commas"),
  bad: "X",
  risk: "High",
  scope: "host",
  shownDefault: "none",
  served: "served",
  meaning: "Further host names of the Ingress's hosts.",
  here: "As there, without regular expressions (`~`).",
});

export const serviceUpstream = declare({
  name: "service-upstream",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  configKey: "service-upstream",
  served: "no-effect",
  meaning: "Whether requests are sent to the Service's own address instead of its endpoints.",
  here: "Endpoints are always used, so that no request is lost when a pod is removed.",
});

export const backendProtocol = declare({
  name: "backend-protocol",
  form: wordForm(["HTTP", "HTTPS", "AUTO_HTTP", "GRPC", "GRPCS", "FCGI"], { anyCase: true }),
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault: "`HTTP`",
  served: "served",
  meaning: "The protocol that backends are spoken to with.",
  here: "As there, but for `FCGI`: requests get 503.",
  isNeutral: (value) => value === "HTTP",
});

export const fastcgiIndex = declare({
  name: "fastcgi-index",
  form: textForm("file name", /^[A-Za-z0-9._\-/]+$/, "a file name"),
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  served: "refused",
  meaning: "The file that FastCGI backends are asked for when a path ends with a slash.",
  here: "FastCGI is not served.",
});

export const fastcgiParamsConfigmap = declare({
  name: "fastcgi-params-configmap",
  form: referenceForm({ optionalNamespace: true }),
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  served: "refused",
  meaning: "The ConfigMap with parameters for FastCGI backends.",
  here: "FastCGI is not served.",
});
