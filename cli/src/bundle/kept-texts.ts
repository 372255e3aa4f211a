/** Rules for the texts of objects in a bundle. Fields that are not listed here are withheld, including future ones. */

/**
 * Fields whose texts are names, references, addresses or enumerated words, and therefore cannot be credentials. The
 * items of a list have the name of its field.
 */
const keptFields: ReadonlySet<string> = new Set([
  // Common fields of objects, and references to other objects.
  ...["apiGroup", "apiVersion", "group", "kind", "name", "namespace", "sectionName", "uid"],
  ...[
    "controller",
    "controllerName",
    "gatewayClassName",
    "ingressClassName",
    "secretName",
    "service",
    "signerName",
  ],
  ...["serviceName", "resource", "nodeName", "zone", "targetPort", "portName", "fieldPath", "image"],
  // Hosts and addresses.
  ...[
    "addresses",
    "allow",
    "deny",
    "exempt",
    "clusterIP",
    "clusterIPs",
    "externalIPs",
    "externalName",
    "host",
  ],
  ...[
    "hostname",
    "hostnames",
    "hosts",
    "ip",
    "ipMode",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
    "domain",
  ],
  ...["trustedSources", "allowOrigins"],
  // Enumerated words.
  ...[
    "addressType",
    "algorithm",
    "allowMethods",
    "appProtocol",
    "conditions",
    "defaultScope",
    "externalTrafficPolicy",
  ],
  ...[
    "finalizers",
    "forbid",
    "from",
    "internalTrafficPolicy",
    "ipFamilies",
    "ipFamilyPolicy",
    "lifetimeType",
  ],
  ...[
    "loadBalancerClass",
    "method",
    "mode",
    "operator",
    "pathType",
    "phase",
    "protocol",
    "routability",
    "sameSite",
  ],
  ...["scheme", "scope", "serviceType", "sessionAffinity", "trafficDistribution", "type", "types"],
  ...["useDefaultGateways", "whenUnprotected", "wellKnownCACertificates", "accessLogFields", "fields"],
  // Names of header fields, cookies, parameters and claims.
  ...[
    "allowHeaders",
    "allowedHeaders",
    "allowedResponseHeaders",
    "byHeader",
    "claim",
    "clientResponseHeaders",
  ],
  ...[
    "exposeHeaders",
    "forwardPayloadHeader",
    "header",
    "key",
    "redirectParam",
    "remove",
    "sessionName",
    "audiences",
  ],
  // Statuses.
  ...["lastTransitionTime", "reason", "status", "supportedFeatures", "observedVersion"],
]);

/** Maps whose texts are all kept, because they select objects. */
const keptMaps: ReadonlySet<string> = new Set(["labels", "matchLabels", "selector", "values"]);

/** Fields with a path, of which the query is withheld. */
const paths: ReadonlySet<string> = new Set(["path", "replaceFullPath", "replacePrefixMatch"]);

/** Fields with a URL, of which scheme, host and port are kept. */
const urls: ReadonlySet<string> = new Set(["issuer", "uri", "url"]);

/** Fields whose `value` is a path or an address. */
const holdersOfValues: ReadonlySet<string> = new Set(["path", "addresses"]);

/** Fields with a duration or size, of which plain values are kept. */
const plainFields: ReadonlySet<string> = new Set([
  ...[
    "absoluteTimeout",
    "idleTimeout",
    "refreshInterval",
    "timeout",
    "maxSize",
    "period",
    "window",
    "within",
  ],
  ...[
    "backendRequest",
    "request",
    "backoff",
    "connect",
    "idle",
    "duration",
    "maxOpenDuration",
    "openDuration",
  ],
]);

/** Maps with quantities, of which plain values are kept. */
const plainMaps: ReadonlySet<string> = new Set(["limits", "requests"]);

/** Maps with settings, whose names show which values are quantities. */
const settingMaps: ReadonlySet<string> = new Set([
  ...["annotations", "defaultAnnotations", "nginxConfig", "options"],
]);

/** The ends of the names of settings whose value is a quantity: a number elsewhere can be a key, an id or a PIN. */
const quantityName = new RegExp(
  `(^|[-./])(${[
    ...["age", "after", "alive", "attempts", "burst", "connections", "depth", "expires", "interval"],
    ...["keepalive", "length", "level", "multiplier", "buffers-number", "port", "processes", "rate"],
    ...["redirect-code", "replicas", "requests", "revision", "rpm", "rps", "size", "status", "status-code"],
    ...["streams", "time", "timeout", "total", "tries", "ttl", "version", "weight"],
  ].join("|")})$`,
);

const switches: ReadonlySet<string> = new Set(["true", "false", "on", "off"]);

/** A switch, number, duration, size or rate. */
const plainValue =
  /^(true|false|on|off|\d{1,9}(\.\d{1,3})?(ns|us|ms|s|m|h|d|%|k|K|M|G|Ki|Mi|Gi|KiB|MiB|GiB)?(\/(s|m|h))?)$/;

/** How a text of a field is handled. */
export type TextRule = "kept" | "message" | "path" | "plain" | "url" | "withheld";

/** The rule for a text in the field `key` of the field `parent`. It does not depend on the text itself. */
export function ruleOf(key: string, parent: string): TextRule {
  if (key === "message") return "message";
  if (urls.has(key)) return "url";
  if (paths.has(key) || (key === "value" && parent === "path")) return "path";
  if (key === "value") return holdersOfValues.has(parent) ? "kept" : "withheld";
  if (keptFields.has(key) || keptMaps.has(parent) || keptMaps.has(key)) return "kept";
  return plainFields.has(key) || plainMaps.has(parent) ? "plain" : "withheld";
}

/** Whether a text has the form of a plain value. A secret can have it as well, so it is no reason to keep a free text. */
export const isPlainValue = (text: string): boolean => plainValue.test(text);

/** Whether a field is a map of settings, to which `isPlainSetting` applies. */
export const holdsSettings = (key: string): boolean => settingMaps.has(key);

/** Whether an annotation or another setting is a switch, or a plain value under a name that denotes a quantity. */
export const isPlainSetting = (name: string, text: string): boolean =>
  switches.has(text) || (isPlainValue(text) && quantityName.test(name));
