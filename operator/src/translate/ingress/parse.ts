/** Parses an Ingress, without the objects that it names. */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { isObjectName } from "@svc-gateway/common/values/namespaced-name.ts";
import { ok } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf, type ObjectRef } from "../../api/object.ts";
import { ageOf, type Age } from "../age.ts";
import { attempt } from "../attempt.ts";
import type { ServicePortRef } from "../backends/service-port-ref.ts";
import { noSecretName } from "../diagnostics/certificates.ts";
import {
  duplicatePath,
  invalidBackend,
  invalidHost,
  invalidPath,
  resourceBackendIgnored,
  ruleWithoutPaths,
} from "../diagnostics/routes.ts";
import { RegexBudget } from "../regex-budget.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { anyHost, parseIngressHost } from "./host.ts";
import { parseIngressPath } from "./path.ts";

/** A reference to a Service port. `field` is its place in the Ingress. */
export type BackendRef = { readonly service: string; readonly port: ServicePortRef; readonly field: string };

type ParsedPath = {
  readonly host: HostPattern;
  readonly match: PathMatch;
  /** The path as written in the Ingress, for messages. */
  readonly written: string;
  /** The path type as written. */
  readonly pathType: string | undefined;
  readonly rule: number;
  readonly path: number;
  /** The backend; undefined if requests are answered 503. */
  readonly backend: BackendRef | undefined;
};

type ParsedTls = {
  readonly hosts: readonly HostPattern[];
  /** The name of the Secret; undefined if certificates of less specific names are presented. */
  readonly secretName: string | undefined;
  readonly field: string;
};

export type ParsedIngress = {
  readonly ref: ObjectRef;
  readonly namespace: string;
  readonly age: Age;
  /** The hosts of the rules in their order, without duplicates. A rule without a host yields `anyHost`. */
  readonly hosts: readonly HostPattern[];
  readonly paths: readonly ParsedPath[];
  readonly defaultBackend: { readonly backend: BackendRef | undefined } | undefined;
  readonly tls: readonly ParsedTls[];
  readonly diagnostics: readonly Diagnostic[];
};

/** The field of a path, in the usual notation. */
export const pathField = (rule: number, path: number): string => `spec.rules[${rule}].http.paths[${path}]`;

/**
 * Reads an Ingress. With `useRegex`, paths of type `ImplementationSpecific` are regular expressions. With
 * `mayBeRegex`, its other paths can become regular expressions on their hosts, so they are kept as written.
 * Never throws: an Ingress whose content does not match its type has nothing to serve.
 */
export function parseIngress(
  ingress: ObjectOf<"Ingress">,
  useRegex = false,
  mayBeRegex = false,
): ParsedIngress {
  const identity = { ref: refOf(ingress), namespace: ingress.metadata.namespace, age: ageOf(ingress) };
  const nothing = { ...identity, hosts: [], paths: [], defaultBackend: undefined, tls: [] };
  return attempt(
    ingress,
    () => {
      const diagnostics: Diagnostic[] = [];
      const rules = parseRules(ingress, identity.ref, { useRegex, mayBeRegex }, diagnostics);
      const defaultBackend = parseDefaultBackend(ingress, identity.ref, diagnostics);
      const tls = parseTls(ingress, rules.hosts, identity.ref, diagnostics);
      diagnostics.push(...findEmptyRules(ingress, identity.ref));
      return { ...identity, ...rules, defaultBackend, tls, diagnostics };
    },
    nothing,
  );
}

function parseRules(
  { spec }: ObjectOf<"Ingress">,
  object: ObjectRef,
  { useRegex, mayBeRegex }: { readonly useRegex: boolean; readonly mayBeRegex: boolean },
  diagnostics: Diagnostic[],
): Pick<ParsedIngress, "hosts" | "paths"> {
  const regexBudget = useRegex ? new RegexBudget() : undefined;
  const hosts = new Map<string, HostPattern>();
  const slots = new Map<string, ParsedPath>();
  for (const [rule, { host: writtenHost, http }] of (spec?.rules ?? []).entries()) {
    const host = writtenHost ? parseIngressHost(writtenHost) : ok(anyHost);
    if (!host.ok) {
      diagnostics.push(invalidHost({ object, field: `spec.rules[${rule}].host` }, host.error));
      continue;
    }
    hosts.set(host.value.host, host.value);
    for (const [path, written] of (http?.paths ?? []).entries()) {
      const field = pathField(rule, path);
      const match = parseIngressPath(written.path, written.pathType, regexBudget, mayBeRegex);
      if (!match.ok) {
        diagnostics.push(invalidPath({ object, field: `${field}.path` }, match.error));
        continue;
      }
      const backend = parseBackend(written.backend, object, `${field}.backend`, diagnostics);
      if (backend === "ignored") continue;
      const slot = `${match.value.type} ${host.value.host} ${mayBeRegex ? written.path : match.value.value}`;
      const parsed = {
        host: host.value,
        match: match.value,
        written: written.path || "/",
        pathType: written.pathType,
        rule,
        path,
        backend,
      };
      if (slots.has(slot))
        diagnostics.push(duplicatePath({ object, field }, host.value.host, parsed.written));
      else slots.set(slot, parsed);
    }
  }
  return { hosts: [...hosts.values()], paths: [...slots.values()] };
}

/**
 * Findings about rules without a path. They make the host exist, and the default backend of the Ingress
 * receives its requests.
 */
function findEmptyRules({ spec }: ObjectOf<"Ingress">, object: ObjectRef): readonly Diagnostic[] {
  if (spec?.defaultBackend !== undefined) return [];
  return [...(spec?.rules ?? []).entries()].flatMap(([rule, { host, http }]) =>
    (http?.paths ?? []).length === 0
      ? [ruleWithoutPaths({ object, field: `spec.rules[${rule}]` }, host === undefined ? "*" : host)]
      : [],
  );
}

type WrittenBackend = NonNullable<NonNullable<ObjectOf<"Ingress">["spec"]>["defaultBackend"]>;

function parseBackend(
  { service, resource }: WrittenBackend,
  object: ObjectRef,
  field: string,
  diagnostics: Diagnostic[],
): BackendRef | undefined | "ignored" {
  if (service === undefined) {
    if (resource !== undefined) {
      diagnostics.push(resourceBackendIgnored({ object, field: `${field}.resource` }));
      return "ignored";
    }
    diagnostics.push(invalidBackend({ object, field }, { message: "The backend names no Service" }));
    return undefined;
  }
  if (!isObjectName(service.name)) {
    const message = `${quote(service.name)} is not a valid Service name`;
    diagnostics.push(invalidBackend({ object, field: `${field}.service.name` }, { message }));
    return undefined;
  }
  const { name = "", number } = service.port ?? {};
  if (name === "" && number === undefined) {
    diagnostics.push(
      invalidBackend({ object, field: `${field}.service.port` }, { message: "The backend names no port" }),
    );
    return undefined;
  }
  return { service: service.name, port: number === undefined ? { name } : { number }, field };
}

function parseDefaultBackend(
  { spec }: ObjectOf<"Ingress">,
  object: ObjectRef,
  diagnostics: Diagnostic[],
): ParsedIngress["defaultBackend"] {
  if (spec?.defaultBackend === undefined) return undefined;
  const backend = parseBackend(spec.defaultBackend, object, "spec.defaultBackend", diagnostics);
  return backend === "ignored" ? undefined : { backend };
}

/**
 * A block without hosts covers the hosts of the rules (Kubernetes API reference, IngressTLS): every host when a rule
 * has none, or when there is no rule.
 */
function parseTls(
  { spec }: ObjectOf<"Ingress">,
  ruleHosts: readonly HostPattern[],
  object: ObjectRef,
  diagnostics: Diagnostic[],
): readonly ParsedTls[] {
  const blocks: ParsedTls[] = [];
  const implied = (spec?.rules ?? []).length === 0 ? [anyHost] : ruleHosts;
  for (const [block, { hosts = [], secretName }] of (spec?.tls ?? []).entries()) {
    const field = `spec.tls[${block}]`;
    if (!secretName) diagnostics.push(noSecretName({ object, field }));
    const named = new Map<string, HostPattern>();
    for (const [index, written] of hosts.entries()) {
      const host = parseIngressHost(written);
      if (host.ok) named.set(host.value.host, host.value);
      else diagnostics.push(invalidHost({ object, field: `${field}.hosts[${index}]` }, host.error));
    }
    blocks.push({
      hosts: hosts.length === 0 ? implied : [...named.values()],
      secretName: secretName || undefined,
      field,
    });
  }
  return blocks;
}
