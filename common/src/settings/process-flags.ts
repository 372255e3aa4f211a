import { logFormatChoices } from "../telemetry/log-format.ts";
import { flag, optionalFlag } from "./flag.ts";
import {
  choiceType,
  hostNamesType,
  ipAddressType,
  listenPortType,
  logType,
  namespaceType,
  objectNameType,
  pathType,
  proxyRulesType,
  switchType,
  trustDomainType,
} from "./flag-types.ts";

const standalone = ["standalone"] as const;
const withConsole = ["controller", "standalone"] as const;
const everyRole = ["controller", "proxy", "standalone"] as const;

/** Flags for the process itself. */
export const processFlags = [
  optionalFlag({
    name: "manifests",
    type: pathType,
    roles: standalone,
    shownDefault: "required without `--proxy`",
    meaning: "Folder of manifests to serve; it is watched for changes.",
  }),
  flag({
    name: "proxy",
    type: proxyRulesType,
    roles: standalone,
    defaultValue: [],
    shownDefault: "none",
    meaning:
      "In place of a folder: sends requests for a host, and a path if one is given, to a backend. May be repeated (docs/standalone.md).",
  }),
  optionalFlag({
    name: "cert",
    type: pathType,
    roles: standalone,
    shownDefault: "one signed by a local CA",
    meaning: "With `--proxy`: PEM file of the certificate that clients are shown; it is watched for changes.",
  }),
  optionalFlag({
    name: "key",
    type: pathType,
    roles: standalone,
    meaning: "PEM file of its private key.",
  }),
  optionalFlag({
    name: "local-ca-dir",
    type: pathType,
    roles: standalone,
    shownDefault: "`svc-gateway/local-ca` among the data of the user",
    meaning: "With `--proxy`: folder in which the local CA is kept.",
  }),
  optionalFlag({
    name: "proxy-ca",
    type: pathType,
    roles: standalone,
    shownDefault: "those of the system",
    meaning: "With `--proxy`: PEM file of the authorities that sign the certificates of https backends.",
  }),
  flag({
    name: "print-manifests",
    type: switchType,
    roles: standalone,
    defaultValue: false,
    meaning: "With `--proxy`: print the manifests that it represents, and end.",
  }),
  flag({
    name: "pod-name",
    type: objectNameType,
    roles: everyRole,
    variable: "POD_NAME",
    defaultValue: "svc-local",
    meaning: "Name of this pod: its identity towards other replicas and the controller.",
  }),
  flag({
    name: "pod-namespace",
    type: namespaceType,
    roles: everyRole,
    variable: "POD_NAMESPACE",
    defaultValue: "svc-system",
    meaning: "Namespace of this installation.",
  }),
  flag({
    name: "management-bind-address",
    type: ipAddressType,
    roles: everyRole,
    defaultValue: "0.0.0.0",
    standaloneDefault: "127.0.0.1",
    meaning: "Bind address of the admin and health ports.",
  }),
  flag({
    name: "admin-port",
    type: listenPortType,
    roles: everyRole,
    defaultValue: 8082,
    meaning: "Port of metrics and the health document; 0 selects a free port.",
  }),
  flag({
    name: "admin-auth",
    type: switchType,
    roles: ["controller", "proxy"],
    defaultValue: false,
    meaning:
      "Controller: the admin port requires a bearer token whose user may `get` its paths. Proxy, which cannot verify tokens: it answers only callers in its own pod.",
  }),
  flag({
    name: "health-port",
    type: listenPortType,
    roles: everyRole,
    defaultValue: 8081,
    meaning: "Port of `/healthz` and `/readyz`; 0 selects a free port.",
  }),
  flag({
    name: "admin-ui",
    type: switchType,
    roles: withConsole,
    defaultValue: false,
    meaning: "Serve the console: pages that show what is served and why (docs/console.md).",
  }),
  flag({
    name: "admin-ui-port",
    type: listenPortType,
    roles: withConsole,
    defaultValue: 8083,
    meaning: "Port of the console; 0 selects a free port.",
  }),
  flag({
    name: "admin-ui-bind-address",
    type: ipAddressType,
    roles: withConsole,
    defaultValue: "127.0.0.1",
    meaning: "Bind address of the console.",
  }),
  flag({
    name: "admin-ui-hosts",
    type: hostNamesType,
    roles: withConsole,
    defaultValue: [],
    shownDefault: "none",
    meaning: "Names besides `localhost` and addresses by which browsers reach the console.",
  }),
  optionalFlag({
    name: "admin-ui-token-file",
    type: pathType,
    roles: withConsole,
    meaning:
      "File with the token to sign in to the console, at least 16 characters. Without it, tokens of the cluster with `--admin-auth`, else a link on the terminal.",
  }),
  flag({
    name: "log",
    type: logType,
    roles: everyRole,
    defaultValue: { level: "info", targets: [] },
    meaning: "Log level, with optional directives per target; the longest matching target prefix wins.",
  }),
  flag({
    name: "log-format",
    type: choiceType(logFormatChoices),
    roles: everyRole,
    defaultValue: "json",
    standaloneDefault: "auto",
    meaning:
      "Log format: one JSON object per line, or readable lines, with colours on a terminal. `auto`: readable lines on a terminal, else JSON.",
  }),
  flag({
    name: "discovery-trust-domain",
    type: trustDomainType,
    roles: ["controller", "proxy"],
    defaultValue: "cluster.local",
    meaning: "SPIFFE trust domain of controller and proxies.",
  }),
] as const;
