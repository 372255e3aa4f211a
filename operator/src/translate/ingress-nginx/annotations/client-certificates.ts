/** Annotations about certificates of clients. */
import { booleanForm, integerForm, referenceTextForm, textForm, wordForm } from "../values.ts";
import { declare } from "./declare.ts";

export const authTlsSecret = declare({
  name: "auth-tls-secret",
  // A value of these characters that is not a reference closes the hosts. ingress-nginx does not load other values.
  form: referenceTextForm("namespace/name", "namespace/name"),
  bad: "X",
  risk: "Medium",
  scope: "host",
  protective: true,
  shownDefault: "none",
  own: ["auth-tls-secret"],
  served: "served",
  meaning: "The Secret with the authorities that certificates of clients must be issued by.",
  here: "As there; without TLS 403 instead of no check, and a Secret with `ca.crl` closes the hosts (`RevocationUnsupported`).",
});

export const authTlsVerifyClient = declare({
  name: "auth-tls-verify-client",
  form: wordForm(["on", "off", "optional", "optional_no_ca"]),
  bad: "I",
  risk: "Medium",
  scope: "host",
  protective: true,
  builtIn: "on",
  shownDefault: "`on`",
  own: ["auth-tls-verify-client"],
  served: "served",
  meaning: "Whether clients must show a certificate.",
  here: "As there.",
});

export const authTlsVerifyDepth = declare({
  name: "auth-tls-verify-depth",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "host",
  protective: true,
  builtIn: 1,
  shownDefault: "1",
  own: ["auth-tls-verify-depth"],
  served: "served",
  meaning: "How many intermediate authorities the chain of a client may have; 0 counts as 1.",
  here: "As there.",
});

export const authTlsPassCertificateToUpstream = declare({
  name: "auth-tls-pass-certificate-to-upstream",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "host",
  protective: true,
  builtIn: false,
  shownDefault: "false",
  own: ["auth-tls-pass-certificate-to-upstream"],
  served: "served",
  meaning: "Whether the certificate is sent upstream in the header `ssl-client-cert`.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const authTlsErrorPage = declare({
  name: "auth-tls-error-page",
  form: textForm(
    "URL or path",
    /^(?:@[A-Za-z0-9_-]+|[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]+)$/,
    "a URL or a path",
  ),
  bad: "X",
  risk: "High",
  scope: "host",
  protective: true,
  shownDefault: "none",
  own: ["auth-tls-error-page"],
  served: "served",
  meaning: "Where clients without a valid certificate are redirected to.",
  here: "As there, but for locations named `@…`.",
});

export const authTlsMatchCn = declare({
  name: "auth-tls-match-cn",
  form: textForm("`CN=` and a regular expression", /^CN=.+$/, "CN= and a regular expression"),
  bad: "X",
  risk: "High",
  scope: "host",
  protective: true,
  shownDefault: "none",
  own: ["auth-tls-match-subject"],
  served: "served",
  meaning: "A regular expression that the subject of a client's certificate must match, 403 otherwise.",
  here: "As there, in RE2 syntax.",
});
