/**
 * The rules across fields that the API server checks in code for its own kinds, as far as they apply to manifests of
 * this gateway (Kubernetes API reference, the pages of each kind), and the values that it fills in by code.
 */
import { Buffer } from "node:buffer";
import { isIPv4, isIPv6 } from "node:net";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { EndpointSlice } from "../generated/endpointslice.ts";
import type { HTTPIngressPath, Ingress, IngressBackend } from "../generated/ingress.ts";
import type { IngressClass } from "../generated/ingressclass.ts";
import type { Service } from "../generated/service.ts";
import type { KindName, KnownObject, ObjectOf } from "../kinds.ts";
import {
  isDataKey,
  isDnsLabel,
  isDnsSubdomain,
  isPortName,
  ruleHostProblem,
  tlsHostProblem,
} from "./names.ts";
import type { Findings } from "./problem.ts";
import { describeValue, reportErrorAt, reportWarningAt } from "./problem.ts";

type Report = (steps: readonly (string | number)[], message: string) => void;

/** Checks a structurally valid object and returns it, completed where the API server completes it. */
export function checkCoreKind<T extends KnownObject>(object: T, findings: Findings): T {
  const check = checks[object.kind] as ((object: T, report: Report, warn: Report) => T) | undefined;
  return check === undefined
    ? object
    : check(
        object,
        (steps, message) => reportErrorAt(findings, steps, message),
        (steps, message) => reportWarningAt(findings, steps, message),
      );
}

type Checks = {
  readonly [K in KindName]?: (object: ObjectOf<K>, report: Report, warn: Report) => ObjectOf<K>;
};

const checks: Checks = {
  Ingress: (ingress, report, warn) => {
    checkIngress(ingress, report);
    checkLegacyClass(ingress, warn);
    checkSecretNames(ingress, warn);
    return ingress;
  },
  IngressClass: (ingressClass, report) => {
    checkIngressClass(ingressClass, report);
    return ingressClass;
  },
  Service: (service, report) => {
    checkService(service, report);
    return service;
  },
  EndpointSlice: (slice, report, warn) => {
    checkEndpointSlice(slice, report, warn);
    return slice;
  },
  Secret: (secret, report) => {
    const { stringData, ...rest } = secret;
    const encoded = Object.entries(stringData ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value).toString("base64"),
    ]);
    const data = { ...secret.data, ...(Object.fromEntries(encoded) as { [key: string]: string }) };
    const bytes = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0);
    checkData(data, bytes, report);
    return secret.data === undefined && stringData === undefined ? rest : { ...rest, data };
  },
  ConfigMap: (map, report) => {
    const texts = Object.values(map.data ?? {}).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
    const binary = Object.values(map.binaryData ?? {}).reduce(
      (sum, value) => sum + Buffer.byteLength(value, "base64"),
      0,
    );
    checkData({ ...map.binaryData, ...map.data }, texts + binary, report);
    return map;
  },
};

const maxDataBytes = 1_048_576;

function checkData(data: { readonly [key: string]: string }, bytes: number, report: Report): void {
  for (const key of Object.keys(data)) {
    if (!isDataKey(key))
      report(
        ["data"],
        `has the key ${describeValue(key)}; only letters, digits, '-', '_' and '.' are allowed`,
      );
  }
  if (bytes > maxDataBytes)
    report(["data"], `must be at most ${maxDataBytes} bytes in total, found ${bytes} bytes`);
}

function checkIngress({ spec }: Ingress, report: Report): void {
  if (spec === undefined || (spec.defaultBackend === undefined && (spec.rules ?? []).length === 0)) {
    report(["spec"], "must have rules or a defaultBackend");
    return;
  }
  if (spec.ingressClassName !== undefined && !isDnsSubdomain(spec.ingressClassName)) {
    report(
      ["spec", "ingressClassName"],
      `must be the name of an IngressClass, found ${describeValue(spec.ingressClassName)}`,
    );
  }
  if (spec.defaultBackend !== undefined)
    checkBackend(spec.defaultBackend, ["spec", "defaultBackend"], report);
  for (const [index, rule] of (spec.rules ?? []).entries()) {
    const at = ["spec", "rules", index];
    const problem = rule.host ? ruleHostProblem(rule.host) : undefined;
    if (problem !== undefined) report([...at, "host"], `${problem}, found ${describeValue(rule.host)}`);
    for (const [pathIndex, path] of (rule.http?.paths ?? []).entries()) {
      checkPath(path, [...at, "http", "paths", pathIndex], report);
    }
  }
  for (const [index, tls] of (spec.tls ?? []).entries()) {
    const at = ["spec", "tls", index];
    for (const [hostIndex, host] of (tls.hosts ?? []).entries()) {
      const problem = tlsHostProblem(host);
      if (problem !== undefined)
        report([...at, "hosts", hostIndex], `${problem}, found ${describeValue(host)}`);
    }
  }
}

/**
 * Warns of a deprecated class annotation that differs from the class. The API server rejects that in a new Ingress, but
 * not after an update, so clusters contain such Ingresses; `spec.ingressClassName` decides (docs/routing.md, "Which
 * Ingresses are served").
 */
function checkLegacyClass({ metadata, spec }: Ingress, warn: Report): void {
  const legacyClass = metadata.annotations?.["kubernetes.io/ingress.class"];
  const name = spec?.ingressClassName;
  if (legacyClass === undefined || name === undefined || legacyClass === name) return;
  warn(
    ["metadata", "annotations", "kubernetes.io/ingress.class"],
    `differs from spec.ingressClassName, which is ${describeValue(name)}, found ${describeValue(legacyClass)}`,
  );
}

/**
 * Warns of names that no Secret can have. The API server accepts them while it updates an Ingress that had one before,
 * so clusters contain Ingresses from before it rejected them; only the certificate is missing.
 */
function checkSecretNames({ spec }: Ingress, warn: Report): void {
  for (const [index, { secretName }] of (spec?.tls ?? []).entries()) {
    if (secretName && !isDnsSubdomain(secretName)) {
      warn(
        ["spec", "tls", index, "secretName"],
        `must be the name of a Secret, found ${describeValue(secretName)}`,
      );
    }
  }
}

const forbiddenInPath = ["//", "/./", "/../", "%2f", "%2F"];
const forbiddenAtEnd = ["/..", "/."];

function checkPath(
  { path = "", pathType, backend }: HTTPIngressPath,
  at: readonly (string | number)[],
  report: Report,
): void {
  const literal = pathType !== "ImplementationSpecific";
  if (!path.startsWith("/") && (literal || path !== "")) {
    report([...at, "path"], `must start with "/", found ${describeValue(path)}`);
  } else if (literal) {
    const inside = forbiddenInPath.find((sequence) => path.includes(sequence));
    const end = forbiddenAtEnd.find((sequence) => path.endsWith(sequence));
    if (inside !== undefined)
      report([...at, "path"], `must not contain "${inside}", found ${describeValue(path)}`);
    if (end !== undefined)
      report([...at, "path"], `must not end with "${end}", found ${describeValue(path)}`);
  }
  checkBackend(backend, [...at, "backend"], report);
}

function checkBackend(
  { resource, service }: IngressBackend,
  at: readonly (string | number)[],
  report: Report,
): void {
  if ((resource === undefined) === (service === undefined)) {
    report(at, `must have either service or resource, found ${resource === undefined ? "neither" : "both"}`);
  }
  if (service === undefined) return;
  if (!isDnsLabel(service.name)) {
    report([...at, "service", "name"], `must be the name of a Service, found ${describeValue(service.name)}`);
  }
  const { name = "", number } = service.port ?? {};
  if ((name === "") === (number === undefined)) {
    report(
      [...at, "service", "port"],
      `must have either name or number, found ${name === "" ? "neither" : "both"}`,
    );
  } else if (name !== "" && !isPortName(name)) {
    report([...at, "service", "port", "name"], `must be the name of a port, found ${describeValue(name)}`);
  }
}

function checkIngressClass({ spec }: IngressClass, report: Report): void {
  const controller = spec?.controller ?? "";
  const [domain = "", ...path] = controller.split("/");
  if (!isDnsSubdomain(domain) || path.join("/") === "") {
    report(
      ["spec", "controller"],
      `must be a domain and a path such as example.com/name, found ${describeValue(controller)}`,
    );
  }
  const parameters = spec?.parameters;
  if (parameters?.scope === "Cluster" && parameters.namespace !== undefined) {
    report(["spec", "parameters", "namespace"], "must not be set while scope is Cluster");
  }
}

function checkService({ spec }: Service, report: Report): void {
  const ports = spec?.ports ?? [];
  if (spec?.type === "ExternalName") {
    const name = spec.externalName ?? "";
    if (!isAbsoluteName(name.toLowerCase())) {
      report(["spec", "externalName"], `must be a DNS name, found ${describeValue(name)}`);
    }
  } else if (ports.length === 0 && spec?.clusterIP !== "None") {
    report(["spec", "ports"], "is required unless the Service is headless or of type ExternalName");
  }
  const names = new Set<string>();
  for (const [index, { name = "", targetPort = 1 }] of ports.entries()) {
    if (typeof targetPort === "number" ? targetPort < 1 || targetPort > 65535 : !isPortName(targetPort)) {
      report(
        ["spec", "ports", index, "targetPort"],
        `must be from 1 to 65535 or the name of a port, found ${describeValue(targetPort)}`,
      );
    }
    if (name === "" && ports.length > 1)
      report(["spec", "ports", index, "name"], "is required when there are several ports");
    if (name !== "" && !isDnsLabel(name)) {
      report(
        ["spec", "ports", index, "name"],
        `must be lower-case letters, digits and '-', found ${describeValue(name)}`,
      );
    }
    if (name !== "" && names.has(name))
      report(["spec", "ports", index, "name"], `repeats the name ${describeValue(name)}`);
    names.add(name);
  }
}

/** Whether a text is a DNS name, which may end with a dot to denote that it is fully qualified. */
const isAbsoluteName = (text: string): boolean => isDnsSubdomain(text.replace(/\.$/, ""));

/** Whether a text is an IPv4 address, which may be written as an IPv4-mapped IPv6 address. */
const isAnyIPv4 = (text: string): boolean => isIPv4(text) || isIPv4(canonicalIp(text) ?? "");

/**
 * Checks the addresses, of which unreadable ones are not used, and the names of the ports. The API server keeps
 * addresses with leading zeros in EndpointSlices from before it rejected them, so clusters contain such addresses beside
 * others. They are ambiguous: some programs read `010` as octal.
 */
function checkEndpointSlice(
  { addressType, endpoints = [], ports = [] }: EndpointSlice,
  report: Report,
  warn: Report,
): void {
  const isAddress = { IPv4: isAnyIPv4, IPv6: isIPv6, FQDN: isAbsoluteName }[addressType];
  const expected = addressType === "FQDN" ? "a DNS name" : `an ${addressType} address`;
  for (const [index, { addresses }] of endpoints.entries()) {
    for (const [addressIndex, address] of addresses.entries()) {
      if (isAddress(address)) continue;
      const hasLeadingZeros = isAddress(address.replaceAll(/\b0+(?=\d)/g, ""));
      const say = hasLeadingZeros ? warn : report;
      say(
        ["endpoints", index, "addresses", addressIndex],
        `must be ${expected}${hasLeadingZeros ? " without leading zeros" : ""}, found ${describeValue(address)}`,
      );
    }
  }
  const names = new Set<string>();
  for (const [index, { name = "" }] of ports.entries()) {
    if (names.has(name)) report(["ports", index, "name"], `repeats the name ${describeValue(name)}`);
    names.add(name);
  }
}
