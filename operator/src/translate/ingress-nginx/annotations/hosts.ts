/** Annotations about the TLS of hosts. */
import { anyTextForm, booleanForm } from "../values.ts";
import { declare } from "./declare.ts";

export const sslPassthrough = declare({
  name: "ssl-passthrough",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "host",
  builtIn: false,
  shownDefault: "false",
  served: "served",
  meaning: "Whether TLS for the host is passed to the backend of `/` without being terminated.",
  here: "As there with `--ingress-nginx-ssl-passthrough`; without it TLS is terminated, and backends are connected to over TLS.",
  isNeutral: (value) => !value,
});

export const sslCiphers = declare({
  name: "ssl-ciphers",
  form: anyTextForm("list of ciphers"),
  bad: "X",
  risk: "Low",
  scope: "host",
  shownDefault: "of the ConfigMap",
  configKey: "ssl-ciphers",
  served: "no-effect",
  meaning: "The ciphers that clients may use.",
  here: "The ciphers are fixed: ECDHE with AES-GCM or ChaCha20 (`CiphersFixed`).",
});

export const sslPreferServerCiphers = declare({
  name: "ssl-prefer-server-ciphers",
  form: booleanForm,
  bad: "X",
  risk: "Low",
  scope: "host",
  builtIn: true,
  shownDefault: "true",
  configKey: "ssl-prefer-server-ciphers",
  served: "no-effect",
  meaning: "Whether the order of ciphers is the server's.",
  here: "All ciphers that are offered are equally safe.",
});
