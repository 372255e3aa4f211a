import { shown } from "./clip.ts";
import { formProblem, type Form } from "./form.ts";
import { parsePort } from "./port.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";

/** The key of a namespaced Kubernetes object. */
export type NamespacedName = { readonly namespace: string; readonly name: string };

/** A port of a Service, by number or by name. */
export type ServicePort = NamespacedName & {
  readonly port: { readonly number: number } | { readonly name: string };
};

const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Whether a text can name a namespace: an RFC 1123 label, as Kubernetes requires. */
export const isNamespaceName = (text: string): boolean => dnsLabel.test(text);

/** Whether a text can name an object: an RFC 1123 subdomain of at most 253 characters, as Kubernetes requires. */
export const isObjectName = (text: string): boolean => text.length <= 253 && dnsSubdomain.test(text);

export const namespacedNameForm: Form = {
  pattern:
    "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
  noun: "a namespaced name",
  expected: '"<namespace>/<name>"',
};

/** Reads `namespace/name`. Both parts are required; there are no defaults. */
export function parseNamespacedName(text: string): Result<NamespacedName, Problem> {
  const [namespace = "", name = "", ...rest] = text.trim().split("/");
  return rest.length === 0 && isNamespaceName(namespace) && isObjectName(name)
    ? ok({ namespace, name })
    : formProblem(namespacedNameForm, text.trim());
}

/** Writes `namespace/name`. */
export const formatNamespacedName = ({ namespace, name }: NamespacedName): string => `${namespace}/${name}`;

/** Reads `namespace/service:port`, the port by number or by name (RFC 6335 section 5.1). */
export function parseServicePort(text: string): Result<ServicePort, Problem> {
  const trimmed = text.trim();
  const colon = trimmed.lastIndexOf(":");
  const service = parseNamespacedName(trimmed.slice(0, Math.max(colon, 0)));
  const port = trimmed.slice(colon + 1);
  const number = parsePort(port);
  if (service.ok && number.ok) return ok({ ...service.value, port: { number: number.value } });
  if (service.ok && isPortName(port)) return ok({ ...service.value, port: { name: port } });
  return problem(`"${shown(trimmed)}" is not a Service port`, '"<namespace>/<service>:<port>"');
}

/** Writes `namespace/service:port`. */
export function formatServicePort({ port, ...service }: ServicePort): string {
  return `${formatNamespacedName(service)}:${"number" in port ? port.number : port.name}`;
}

function isPortName(text: string): boolean {
  return /^[a-z0-9](-?[a-z0-9])*$/.test(text) && text.length <= 15 && /[a-z]/.test(text);
}
