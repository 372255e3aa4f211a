import { formatLogDirectives, parseLogDirectives, type LogDirectives } from "../telemetry/log-level.ts";
import { parseBoolean } from "../values/boolean.ts";
import { formatByteSize, parseByteSize } from "../values/byte-size.ts";
import { formatCidr, parseCidr, type Cidr } from "../values/cidr.ts";
import { formatDuration, maxDurationMs, parseDuration } from "../values/duration.ts";
import { formatEndpoint, parseEndpoint, type Endpoint } from "../values/endpoint.ts";
import { isToken } from "../values/header-name.ts";
import { parseDnsName } from "../values/hostname.ts";
import { parseInteger } from "../values/integer.ts";
import { parseIpAddress } from "../values/ip-address.ts";
import { splitCsv } from "../values/list.ts";
import {
  formatNamespacedName,
  formatServicePort,
  isNamespaceName,
  isObjectName,
  parseNamespacedName,
  parseServicePort,
  type NamespacedName,
  type ServicePort,
} from "../values/namespaced-name.ts";
import { parseListenPort, parsePort } from "../values/port.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";
import type { FlagType } from "./flag.ts";
import { formatProxyRule, parseProxyRule, proxyRuleForm, type ProxyRule } from "./proxy-rule.ts";

/** A mapping that sends the connections for a listener port to another local port. */
export type PortMapping = { readonly listenerPort: number; readonly localPort: number };

/** Labels that select objects by equality. */
export type LabelSelector = Readonly<Record<string, string>>;

const mismatch = (text: string): Result<never, Problem> => problem(`"${text}" does not match`);

const asText = String;

/** A text of a given form, trimmed. */
const textType = (name: string, expected: string, form: (text: string) => boolean): FlagType<string, ""> => ({
  name,
  unit: "",
  expected,
  parse: (text) => (form(text.trim()) ? ok(text.trim()) : mismatch(text)),
  format: asText,
});

export const headerType = textType("Name: value", '"Name: value"', (text) => text.includes(":"));

export const tokenType = textType("token|@file", "a token or @file", (text) => text !== "");

/** One JSON object, for values that other programs provide. */
export const jsonObjectType: FlagType<Readonly<Record<string, unknown>>, ""> = {
  name: "json",
  unit: "",
  expected: "a JSON object",
  parse(text) {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? ok(value as Readonly<Record<string, unknown>>)
        : mismatch(text);
    } catch {
      return mismatch(text);
    }
  },
  format: (value) => JSON.stringify(value),
};

export const switchType: FlagType<boolean, ""> = {
  name: "true|false",
  unit: "",
  expected: "true or false",
  parse: parseBoolean,
  format: asText,
  isSwitch: true,
  choices: ["true", "false"],
};

export const pathType: FlagType<string, ""> = {
  ...textType("path", "a path", (text) => text !== ""),
  isPath: true,
};

export const imageType = textType("image", "an image reference", (text) =>
  /^[\w][\w.:/@-]{0,1000}$/.test(text),
);

export const namespaceType = textType("namespace", "the name of a namespace", isNamespaceName);

export const contextNameType = textType("name", "the name of a context", (text) => text !== "");

export const objectNameType = textType("name", "the name of a Kubernetes object", isObjectName);

export const trustDomainType = textType(
  "domain",
  "a trust domain of lower-case letters, digits, dots, hyphens and underscores",
  (text) => /^[a-z0-9._-]{1,255}$/.test(text),
);

export const controllerNameType = textType(
  "domain/path",
  'a domain-prefixed path such as "example.com/controller"',
  (text) => text.length <= 253 && /^[a-z0-9.-]+\/[\w\-./~%!$&'()*+,;=:]+$/.test(text),
);

export const ipAddressType: FlagType<string, ""> = {
  name: "ip",
  unit: "",
  expected: "an IP address",
  parse: parseIpAddress,
  format: asText,
};

export const hostType: FlagType<string, ""> = {
  name: "host",
  unit: "",
  expected: "an IP address or a DNS name",
  parse(text) {
    const address = parseIpAddress(text);
    return address.ok ? address : parseDnsName(text);
  },
  format: asText,
};

/** A host with an optional port. */
export const endpointType = (defaultPort: number): FlagType<Endpoint, ""> => ({
  name: "host[:port]",
  unit: "",
  expected: "host[:port]",
  parse: (text) => parseEndpoint(text, defaultPort),
  format: formatEndpoint,
});

/** A port to listen on; 0 requests a free one from the operating system. */
export const listenPortType: FlagType<number, ""> = {
  name: "port",
  unit: "",
  expected: "a port from 0 to 65535",
  parse: parseListenPort,
  format: asText,
};

export const portType: FlagType<number, ""> = {
  name: "port",
  unit: "",
  expected: "a port from 1 to 65535",
  parse: parsePort,
  format: asText,
};

/** The value for a public port that equals the local port: nothing in front of the process changes it. */
export const localPublicPort = 0;

const localWord = "local";

export const publicPortType: FlagType<number, ""> = {
  ...portType,
  expected: `${portType.expected}, or ${localWord}`,
  parse: (text) => (text === localWord ? ok(localPublicPort) : parsePort(text)),
  format: (port) => (port === localPublicPort ? localWord : String(port)),
};

/** A whole number between bounds, both included. */
export const integerType = (min: number, max: number): FlagType<number, ""> => ({
  name: "number",
  unit: "",
  expected: `a whole number from ${min} to ${max}`,
  parse: (text) => parseInteger(text, { min, max }),
  format: asText,
});

/** A span of time between bounds, both included. */
export const durationType = ({
  minMs = 0,
  maxMs = maxDurationMs,
}: { readonly minMs?: number; readonly maxMs?: number } = {}): FlagType<number, "Ms"> => ({
  name: "duration",
  unit: "Ms",
  expected: `a duration such as "15s" or "1m30s", from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`,
  parse(text) {
    const parsed = parseDuration(text, maxMs);
    return parsed.ok && parsed.value < minMs ? mismatch(text) : parsed;
  },
  format: formatDuration,
});

/** A time limit that 0 disables. Other values below a millisecond are rejected. */
export const timeoutType: FlagType<number, "Ms"> = {
  name: "duration",
  unit: "Ms",
  expected: 'a duration such as "15s" or "1m30s", at least 1ms and at most 24h, or 0 for none',
  parse(text) {
    const parsed = parseDuration(text);
    return parsed.ok && parsed.value > 0 && parsed.value < 1 ? mismatch(text) : parsed;
  },
  format: (milliseconds) => (milliseconds === 0 ? "none" : formatDuration(milliseconds)),
};

/** A number of bytes between bounds, both included. */
export const sizeType = (minBytes: number, maxBytes: number): FlagType<number, "Bytes"> => ({
  name: "size",
  unit: "Bytes",
  expected: `a size in bytes with an optional k, m or g, from ${formatByteSize(minBytes)} to ${formatByteSize(maxBytes)}`,
  parse(text) {
    const parsed = parseByteSize(text);
    return parsed.ok && (parsed.value < minBytes || parsed.value > maxBytes) ? mismatch(text) : parsed;
  },
  format: formatByteSize,
});

/** One of a few words, case-sensitive. */
export const choiceType = <const Choice extends string>(
  choices: readonly Choice[],
): FlagType<Choice, ""> => ({
  name: choices.join("|"),
  unit: "",
  expected: choices.join(" or "),
  choices,
  parse(text) {
    const choice = choices.find((one) => one === text.trim());
    return choice === undefined ? mismatch(text) : ok(choice);
  },
  format: asText,
});

export const logType: FlagType<LogDirectives, ""> = {
  name: "directives",
  unit: "",
  expected: 'error, warn, info, debug, trace or off, or directives such as "info,svc_proxy::access=off"',
  parse: parseLogDirectives,
  format: formatLogDirectives,
};

export const namespacedNameType: FlagType<NamespacedName, ""> = {
  name: "namespace/name",
  unit: "",
  expected: "<namespace>/<name>",
  parse: parseNamespacedName,
  format: formatNamespacedName,
};

export const servicePortType: FlagType<ServicePort, ""> = {
  name: "namespace/service:port",
  unit: "",
  expected: "<namespace>/<service>:<port>",
  parse: parseServicePort,
  format: formatServicePort,
};

/** Items separated by commas; an empty list is valid and equals no list. */
const listType = <Item>(
  name: string,
  expected: string,
  parseItem: (text: string) => Result<Item, unknown>,
  formatItem: (item: Item) => string,
): FlagType<readonly Item[], ""> => ({
  name,
  unit: "",
  expected,
  parse(text) {
    const items = splitCsv(text).map(parseItem);
    const failed = items.find((item) => !item.ok);
    return failed ?? ok(items.flatMap((item) => (item.ok ? [item.value] : [])));
  },
  format: (items) => items.map(formatItem).join(","),
  acceptsEmpty: true,
});

/** Fields that frame, route or authenticate a message, or that the proxy itself sets or reads. */
const takenFields =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy.*|host|content-.*|expect|via|forwarded|x-forwarded-.*|x-real-ip|x-ssl-client-cert|authorization|cookie|set-cookie|www-authenticate|location|date|traceparent|tracestate|sec-.*|http2-settings)$/i;

/** A share, both bounds included. */
export const ratioType: FlagType<number, ""> = {
  name: "ratio",
  unit: "",
  expected: "a number from 0 to 1, such as 0.05",
  parse(text) {
    const trimmed = text.trim();
    const ratio = /^\d{0,3}(?:\.\d{1,9})?$/.test(trimmed) && trimmed !== "" ? Number(trimmed) : Number.NaN;
    return ratio >= 0 && ratio <= 1 ? ok(ratio) : mismatch(text);
  },
  format: asText,
};

export const serviceNameType = textType("name", "a name of printable ASCII", (text) =>
  /^[ -~]{1,255}$/.test(text),
);

/** The URL of a server, without credentials, query and fragment. */
export const urlType = textType("url", "a URL such as http://collector:4317, without credentials", (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
});

/** The name of a header that can be added to a request, in wire form. */
export const fieldNameType = textType(
  "name",
  "a header name that has no other meaning to HTTP or the proxy, such as X-Request-ID",
  (text) => text.length <= 64 && isToken(text) && !takenFields.test(text.replaceAll("_", "-")),
);

export const namespacesType = listType("namespace,...", "names of namespaces", namespaceType.parse, asText);

export const classNamesType = listType("class,...", "names of IngressClasses", objectNameType.parse, asText);

/** Names of annotations without their prefix. */
export const namesType = listType(
  "name,...",
  "names of annotations without prefix",
  objectNameType.parse,
  asText,
);

/** References to objects by namespace and name. */
export const namespacedNamesType = listType(
  "namespace/name,...",
  "references in the form namespace/name",
  parseNamespacedName,
  formatNamespacedName,
);

export const annotationPrefixType = textType(
  "prefix",
  'a DNS name such as "nginx.ingress.kubernetes.io"',
  (text) => text.length <= 253 && parseDnsName(text).ok,
);

export const cidrsType: FlagType<readonly Cidr[], ""> = listType(
  "cidr,...",
  'CIDRs such as "10.0.0.0/8,2001:db8::/32"',
  parseCidr,
  formatCidr,
);

const portMappings = listType<PortMapping>(
  "port=port,...",
  'pairs of listener port and local port such as "80=8080,443=8443", each listener port once',
  (text) => {
    const [left = "", right = "", ...rest] = text.split("=");
    const listenerPort = parsePort(left);
    const localPort = parseListenPort(right);
    return listenerPort.ok && localPort.ok && rest.length === 0
      ? ok({ listenerPort: listenerPort.value, localPort: localPort.value })
      : mismatch(text);
  },
  ({ listenerPort, localPort }) => `${listenerPort}=${localPort}`,
);

export const portMapType: FlagType<readonly PortMapping[], ""> = {
  ...portMappings,
  parse(text) {
    const parsed = portMappings.parse(text);
    if (!parsed.ok) return parsed;
    const hasDuplicate =
      new Set(parsed.value.map(({ listenerPort }) => listenerPort)).size < parsed.value.length;
    return hasDuplicate ? mismatch(text) : parsed;
  },
};

export const proxyRulesType: FlagType<readonly ProxyRule[], ""> = {
  ...listType("host=backend,...", proxyRuleForm, parseProxyRule, formatProxyRule),
  isRepeatable: true,
};

/** A list of DNS names, which are converted to lower case. */
export const hostNamesType = listType("name,...", "DNS names", parseDnsName, asText);

const labelKey = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

export const selectorType: FlagType<LabelSelector, ""> = {
  name: "label=value,...",
  unit: "",
  expected: 'labels such as "app.kubernetes.io/name=svc"',
  parse(text) {
    const pairs = splitCsv(text).map((pair) => pair.split("="));
    const isValid = pairs.every(
      (pair) => pair.length === 2 && labelKey.test(pair[0] ?? "") && labelValue.test(pair[1] ?? ""),
    );
    return isValid ? ok(Object.fromEntries(pairs) as LabelSelector) : mismatch(text);
  },
  format: (labels) =>
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
  acceptsEmpty: true,
};
