/** Annotations about redirects, beginning with those to https. */
import { booleanForm, integerForm, textForm } from "../values.ts";
import { declare } from "./declare.ts";

const url = textForm(
  "URL",
  /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/,
  'a URL such as "https://example.com/path"',
);

/** Annotations of this gateway of which each redirects. */
const ownTargets = ["redirect-url", "redirect-hostname", "redirect-path", "redirect-port", "redirect-scheme"];

export const sslRedirect = declare({
  name: "ssl-redirect",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: true,
  shownDefault: "true",
  configKey: "ssl-redirect",
  own: ["ssl-redirect"],
  served: "served",
  meaning: "Whether requests without TLS are redirected to https when the host has TLS.",
  here: "As there.",
});

export const forceSslRedirect = declare({
  name: "force-ssl-redirect",
  form: booleanForm,
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  configKey: "force-ssl-redirect",
  own: ["ssl-redirect"],
  served: "served",
  meaning: "Whether requests without TLS are redirected to https even if the host has no TLS.",
  here: "As there.",
});

export const preserveTrailingSlash = declare({
  name: "preserve-trailing-slash",
  form: booleanForm,
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  served: "served",
  meaning: "Whether the redirect to https keeps a slash at the end of the URL.",
  here: "As there.",
});

export const usePortInRedirects = declare({
  name: "use-port-in-redirects",
  form: booleanForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  configKey: "use-port-in-redirects",
  served: "served",
  meaning: "Whether the redirect to https names the HTTPS port.",
  here: "As there, with the public HTTPS port.",
});

export const permanentRedirect = declare({
  name: "permanent-redirect",
  form: url,
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  own: ownTargets,
  served: "served",
  meaning: "The URL that all requests are redirected to.",
  here: "As there.",
});

export const permanentRedirectCode = declare({
  name: "permanent-redirect-code",
  form: integerForm(),
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: 301,
  shownDefault: "301",
  own: ["redirect-status-code"],
  served: "served",
  meaning: "Status of `permanent-redirect`: 300 to 308, and 301 for any other number.",
  here: "As there.",
});

export const temporalRedirect = declare({
  name: "temporal-redirect",
  form: url,
  bad: "X",
  risk: "Medium",
  scope: "location",
  shownDefault: "none",
  own: ownTargets,
  served: "served",
  meaning:
    "The URL that all requests are redirected to for now; it takes precedence over `permanent-redirect`.",
  here: "As there.",
});

export const temporalRedirectCode = declare({
  name: "temporal-redirect-code",
  form: integerForm(),
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: 302,
  shownDefault: "302",
  own: ["redirect-status-code"],
  served: "served",
  meaning: "Status of `temporal-redirect`: 300 to 307, and 302 for any other number.",
  here: "As there.",
});

export const relativeRedirects = declare({
  name: "relative-redirects",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  configKey: "relative-redirects",
  served: "served",
  meaning: "Whether redirects name no scheme and no host.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const fromToWwwRedirect = declare({
  name: "from-to-www-redirect",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "host",
  builtIn: false,
  shownDefault: "false",
  served: "served",
  meaning: "Whether `www.` and the host is redirected to the host, or the other way round.",
  here: "As there; the port is left out when it is the default of the scheme.",
  isNeutral: (value) => !value,
});

export const http2PushPreload = declare({
  name: "http2-push-preload",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "false",
  served: "no-effect",
  meaning: "Whether `Link` headers with `rel=preload` are pushed over HTTP/2.",
  here: "Nothing is pushed, because browsers no longer accept pushes.",
});
