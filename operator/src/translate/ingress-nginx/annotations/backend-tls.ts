/** Annotations about TLS to backends. */
import { anyTextForm, integerForm, onOffForm, referenceForm, textForm } from "../values.ts";
import { declare } from "./declare.ts";

export const proxySslSecret = declare({
  name: "proxy-ssl-secret",
  form: referenceForm({ optionalNamespace: false }),
  bad: "D",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "none",
  served: "served",
  meaning: "The Secret with the authorities that verify backends, and the certificate that they are shown.",
  here: "As there.",
});

export const proxySslVerify = declare({
  name: "proxy-ssl-verify",
  form: onOffForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  protective: true,
  builtIn: false,
  shownDefault: "`off`",
  served: "served",
  meaning: "Whether the certificates of backends are verified.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const proxySslVerifyDepth = declare({
  name: "proxy-ssl-verify-depth",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 1,
  shownDefault: "1",
  served: "served",
  meaning: "How many intermediate authorities the chain of a backend may have; 0 counts as 1.",
  here: "As there.",
  isNeutral: (value) => value <= 1,
});

const hostName = textForm("host name", /^[A-Za-z0-9\-.:_]+$/, "a host name");

export const proxySslName = declare({
  name: "proxy-ssl-name",
  form: hostName,
  bad: "I",
  risk: "High",
  scope: "location",
  shownDefault: "none",
  served: "served",
  meaning: "The name that certificates of backends are verified with.",
  here: "As there.",
});

export const proxySslServerName = declare({
  name: "proxy-ssl-server-name",
  form: onOffForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: false,
  shownDefault: "`off`",
  served: "served",
  meaning: "Whether backends are sent a server name.",
  here: "As there.",
  isNeutral: (value) => !value,
});

export const proxySslCiphers = declare({
  name: "proxy-ssl-ciphers",
  form: anyTextForm("list of ciphers"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  shownDefault: "`DEFAULT`",
  served: "no-effect",
  meaning: "The ciphers for connections to backends.",
  here: "The ciphers are fixed: ECDHE with AES-GCM or ChaCha20 (`CiphersFixed`).",
});

export const proxySslProtocols = declare({
  name: "proxy-ssl-protocols",
  form: textForm(
    "list of versions",
    /^(?:SSLv2|SSLv3|TLSv1(?:\.[123])?)(?: +(?:SSLv2|SSLv3|TLSv1(?:\.[123])?))*$/,
    "versions such as TLSv1.2 TLSv1.3",
  ),
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault: "`TLSv1.2`",
  served: "no-effect",
  meaning: "The TLS versions for connections to backends.",
  here: "TLS 1.2 and 1.3 are used.",
});
