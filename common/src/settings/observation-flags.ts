import { accessFieldsType } from "./access-fields-type.ts";
import { flag, optionalFlag } from "./flag.ts";
import {
  choiceType,
  cidrsType,
  fieldNameType,
  pathType,
  ratioType,
  serviceNameType,
  switchType,
  urlType,
} from "./flag-types.ts";

const serving = ["proxy", "standalone"] as const;

/** Flags for the contents of the logs and traces of requests. */
export const observationFlags = [
  flag({
    name: "access-log",
    type: switchType,
    roles: serving,
    defaultValue: true,
    meaning: "Log every request in one line.",
  }),
  flag({
    name: "access-log-path-mode",
    type: choiceType(["full", "pattern", "none"]),
    roles: serving,
    defaultValue: "full",
    meaning: "The path in access-log lines: as requested, as configured in the matched rule, or left out.",
  }),
  optionalFlag({
    name: "access-log-format",
    type: choiceType(["json", "console", "common", "combined"]),
    roles: serving,
    shownDefault: "that of `--log-format`",
    meaning:
      "The form of access-log lines: JSON, readable, or the Common or Combined Log Format of web servers, whose fields are fixed.",
  }),
  flag({
    name: "access-log-fields",
    type: accessFieldsType,
    roles: serving,
    defaultValue: [],
    shownDefault: "the usual ones",
    meaning:
      "Fields of access-log lines: a list of all of them, or changes to the usual ones, as in `+request_id,+user_agent,-mirror` (docs/reference/access-log.md).",
  }),
  flag({
    name: "access-log-connections",
    type: switchType,
    roles: serving,
    defaultValue: false,
    meaning:
      "Log connections of TCP and TLS routes and sessions of UDP clients, too, in one line each when they end.",
  }),
  optionalFlag({
    name: "request-id-header",
    type: fieldNameType,
    roles: serving,
    meaning:
      "Give each request an id in this header, such as `X-Request-ID`: for its backend, the client and the access log (docs/features/access-log.md).",
  }),
  flag({
    name: "request-id-trusted-cidrs",
    type: cidrsType,
    roles: serving,
    defaultValue: [],
    shownDefault: "none",
    meaning: "Peers whose own id in that header is kept; requests of others get a new one.",
  }),
  optionalFlag({
    name: "tracing-endpoint",
    type: urlType,
    roles: serving,
    meaning:
      "Trace requests and send their spans to this collector by OTLP, such as `http://collector:4317`; `https` for TLS (docs/features/tracing.md).",
  }),
  flag({
    name: "tracing-protocol",
    type: choiceType(["grpc", "http/protobuf"]),
    roles: serving,
    defaultValue: "grpc",
    meaning:
      "The form of OTLP that the collector takes; for `http/protobuf`, a URL without path gets `/v1/traces`.",
  }),
  optionalFlag({
    name: "tracing-headers-path",
    type: pathType,
    roles: serving,
    meaning: "File with headers for the collector, one `name: value` per line, such as its credentials.",
  }),
  optionalFlag({
    name: "tracing-ca-bundle-path",
    type: pathType,
    roles: serving,
    shownDefault: "those of Node.js",
    meaning: "File with the certificate authorities that the collector is verified with.",
  }),
  flag({
    name: "tracing-service-name",
    type: serviceNameType,
    roles: serving,
    defaultValue: "svc-gateway",
    meaning: "`service.name` of the spans.",
  }),
  flag({
    name: "tracing-ratio",
    type: ratioType,
    roles: serving,
    defaultValue: 1,
    meaning: "The share of traces that are sampled, from 0 to 1, where the caller has not decided.",
  }),
  flag({
    name: "tracing-follow-caller",
    type: switchType,
    roles: serving,
    defaultValue: true,
    meaning:
      "Sample the traces that callers have sampled, and no others of theirs; false: the ratio decides about all.",
  }),
  flag({
    name: "tracing-trusted-cidrs",
    type: cidrsType,
    roles: serving,
    defaultValue: [],
    shownDefault: "any peer",
    meaning: "Peers whose `traceparent` is continued; requests of others begin traces of their own.",
  }),
] as const;
