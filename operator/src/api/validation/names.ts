/** The forms of names that the API server accepts (Kubernetes documentation, "Object Names and IDs"). */
import { isIP } from "node:net";

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Whether a text is a DNS label: lower-case letters, digits and `-`, at most 63, beginning and ending with a letter or
 * digit (RFC 1123).
 */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && dnsLabel.test(text);

/** Whether a text is a DNS subdomain: labels joined by dots, at most 253 characters. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length <= 253 && text.split(".").every((label) => dnsLabel.test(label));

/**
 * Returns the problem of the host of a rule of an Ingress, which must be a subdomain, optionally after `*.`, and not an
 * IP address; undefined for a valid host.
 */
export const ruleHostProblem = (host: string): string | undefined =>
  isIP(host) === 0 ? tlsHostProblem(host) : "must be a DNS name, not an IP address";

/**
 * Returns the problem of a host under `spec.tls` of an Ingress, which the API server does not compare with the form of
 * IPv4 addresses; undefined for a host that it accepts.
 */
export function tlsHostProblem(host: string): string | undefined {
  const name = host.startsWith("*.") ? host.slice(2) : host;
  if (host.length <= 253 && isDnsSubdomain(name)) return undefined;
  return "must be a lower-case DNS name such as example.com, or *.example.com for one label below it";
}

/** Whether a text can be the value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`. */
export const isLabelValue = (text: string): boolean =>
  text === "" || (text.length <= 63 && labelValue.test(text));

/**
 * Whether a text can be the key of a label or annotation: a name of at most 63 characters, after an optional DNS prefix
 * and `/`.
 */
export function isQualifiedName(text: string): boolean {
  if (text.length > 317) return false;
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  const prefixIsFine = slash === -1 || isDnsSubdomain(text.slice(0, slash));
  return prefixIsFine && name.length <= 63 && labelValue.test(name);
}

/** Whether a text can be a key of a Secret or ConfigMap: at most 253 letters, digits, `-`, `_` and `.`. */
export const isDataKey = (text: string): boolean =>
  text.length <= 253 && /^[-._a-zA-Z0-9]+$/.test(text) && text !== "." && !text.startsWith("..");

/**
 * Whether a text can be the name of a port: at most 15 lower-case letters, digits and single `-`, with at least one
 * letter (RFC 6335).
 */
export const isPortName = (text: string): boolean =>
  text.length <= 15 && dnsLabel.test(text) && /[a-z]/.test(text) && !text.includes("--");
