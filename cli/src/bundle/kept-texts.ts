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

/** A switch, number, duration, size or rate, which is kept in every field. */
const plainValue =
  /^(true|false|on|off|\d{1,9}(\.\d{1,3})?(ns|us|ms|s|m|h|d|%|k|K|M|G|Ki|Mi|Gi|KiB|MiB|GiB)?(\/(s|m|h))?)$/;

/** How a text of a field is handled. */
export type TextRule = "kept" | "message" | "path" | "url" | "withheld";

/** The rule for a text in the field `key` of the field `parent`. It does not depend on the text itself. */
export function ruleOf(key: string, parent: string): TextRule {
  if (key === "message") return "message";
  if (urls.has(key)) return "url";
  if (paths.has(key) || (key === "value" && parent === "path")) return "path";
  if (key === "value") return holdersOfValues.has(parent) ? "kept" : "withheld";
  return keptFields.has(key) || keptMaps.has(parent) || keptMaps.has(key) ? "kept" : "withheld";
}

/** Whether a text has the form of a plain value, and therefore is not a secret. */
export const isPlainValue = (text: string): boolean => plainValue.test(text);
