/** The texts of objects that a bundle holds. A field that is not named here is withheld, also one that is added later. */

/**
 * Fields whose texts are names, references, addresses or words of a list: no credential works there. The items of a list have the
 * name of its field.
 */
const keptFields: ReadonlySet<string> = new Set([
  // Of every object, and references to others.
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
  // Words of a list.
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

/** Maps of which every text is kept: they select objects. */
const keptMaps: ReadonlySet<string> = new Set(["labels", "matchLabels", "selector", "values"]);

/** Paths without their query. */
const paths: ReadonlySet<string> = new Set(["path", "replaceFullPath", "replacePrefixMatch"]);

/** URLs: scheme, host and port. */
const urls: ReadonlySet<string> = new Set(["issuer", "uri", "url"]);

/** Fields whose `value` is a path or an address. */
const holdersOfValues: ReadonlySet<string> = new Set(["path", "addresses"]);

/** A switch, number, duration, size or rate, whichever field holds it. */
const plainValue =
  /^(true|false|on|off|\d{1,9}(\.\d{1,3})?(ns|us|ms|s|m|h|d|%|k|K|M|G|Ki|Mi|Gi|KiB|MiB|GiB)?(\/(s|m|h))?)$/;

/** How a text of a field is handled. */
export type TextRule = "kept" | "message" | "path" | "url" | "withheld";

/** The rule for a text in the field `key` of the field `parent`. Neither depends on what the text is. */
export function ruleOf(key: string, parent: string): TextRule {
  if (key === "message") return "message";
  if (urls.has(key)) return "url";
  if (paths.has(key) || (key === "value" && parent === "path")) return "path";
  if (key === "value") return holdersOfValues.has(parent) ? "kept" : "withheld";
  return keptFields.has(key) || keptMaps.has(parent) || keptMaps.has(key) ? "kept" : "withheld";
}

/** Whether a text is too plain to be a secret. */
export const isPlainValue = (text: string): boolean => plainValue.test(text);
