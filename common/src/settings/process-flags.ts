import { logFormatChoices } from "../telemetry/log-format.ts";
import { flag, requiredFlag } from "./flag.ts";
import {
  choiceType,
  ipAddressType,
  listenPortType,
  logType,
  namespaceType,
  objectNameType,
  pathType,
  switchType,
  trustDomainType,
} from "./flag-types.ts";

const everyRole = ["controller", "proxy", "standalone"] as const;

/** Flags about the process itself. */
export const processFlags = [
  requiredFlag({
    name: "manifests",
    type: pathType,
    roles: ["standalone"],
    meaning: "Folder of manifests to serve; it is watched for changes.",
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
