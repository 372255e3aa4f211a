import { logFormats } from "../telemetry/log-format.ts";
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
    meaning: "Folder of manifests to serve; changes are followed.",
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
    meaning: "Address of the admin and the health port.",
  }),
  flag({
    name: "admin-port",
    type: listenPortType,
    roles: everyRole,
    defaultValue: 8082,
    meaning: "Port of metrics and health detail; 0 takes a free one.",
  }),
  flag({
    name: "admin-auth",
    type: switchType,
    roles: ["controller", "proxy"],
    defaultValue: false,
    meaning:
      "Of a controller: the admin port answers only to bearer tokens that may `get` its paths. Of a proxy, which cannot ask about tokens: only to its own pod.",
  }),
  flag({
    name: "health-port",
    type: listenPortType,
    roles: everyRole,
    defaultValue: 8081,
    meaning: "Port of `/healthz` and `/readyz`; 0 takes a free one.",
  }),
  flag({
    name: "log",
    type: logType,
    roles: everyRole,
    defaultValue: { level: "info", targets: [] },
    meaning: "Log level, with directives per target; the longest matching target prefix wins.",
  }),
  flag({
    name: "log-format",
    type: choiceType(logFormats),
    roles: everyRole,
    defaultValue: "json",
    meaning: "One JSON object per line, or readable lines.",
  }),
  flag({
    name: "discovery-trust-domain",
    type: trustDomainType,
    roles: ["controller", "proxy"],
    defaultValue: "cluster.local",
    meaning: "SPIFFE trust domain of controller and proxies.",
  }),
] as const;
