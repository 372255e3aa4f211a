/** Finds the Secrets that other objects name; only the data of these is held. See docs/controller.md, "Memory". */
import type { KubeObject } from "../../api/object.ts";
import type { KindName } from "../../api/kinds.ts";

/** Kinds with many objects, which name no Secret. */
const silentKinds: ReadonlySet<KindName> = new Set([
  "ClusterTrustBundle",
  "ConfigMap",
  "EndpointSlice",
  "Namespace",
  "ReferenceGrant",
  "Secret",
  "Service",
]);

/** Placeholder namespace that matches a Secret of the name in any namespace. */
const anyNamespace = "*";
/** The largest length of a name to consider, more than any `namespace/name` has. */
const maxNameLength = 320;
/** The largest number of names of one object. Kubernetes objects have room for more, but no use for them. */
const maxNames = 4096;
/** Annotations whose values can name Secrets. */
const namingAnnotation = /secret|tls|ssl|auth|cert/i;
/** Fields with the name of an object, which can be a Secret. */
const namingField = /^name$|secret/i;

/** Frequent fields that name objects of other kinds. */
const silentFields: ReadonlySet<string> = new Set(["service", "backendRefs", "parentRefs", "targetRefs"]);

/**
 * Returns the Secrets that an object might name, as `namespace/name`: the values of all fields and annotations that can
 * contain the name of a Secret, whether they do or not. It errs on the side of too many, because the gateway treats a
 * Secret that is not among them as missing.
 */
export function secretNamesIn(kind: KindName, object: KubeObject): ReadonlySet<string> {
  const found = new Set<string>();
  if (silentKinds.has(kind)) return found;
  const { metadata, ...rest } = object;
  // Defaults of a class are read in the namespaces of its Ingresses.
  const own = kind === "SvcIngressClassParameters" ? anyNamespace : (metadata.namespace ?? anyNamespace);
  const add = (text: string, namespace: string = own): void => {
    if (text.length > maxNameLength || found.size >= maxNames) return;
    found.add(text.includes("/") ? text : `${namespace}/${text}`);
  };
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) {
    if (namingAnnotation.test(key) && value.length <= maxNameLength) add(value.trim());
  }
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const fields = value as Readonly<Record<string, unknown>>;
    const { kind: of = "Secret" } = fields;
    for (const [key, field] of Object.entries(fields)) {
      if (silentFields.has(key)) continue;
      if (typeof field !== "string") visit(field);
      else if (of !== "Secret" && key === "name") continue;
      else if (namingField.test(key) || namingAnnotation.test(key)) {
        add(field.trim());
        if (typeof fields["namespace"] === "string") add(field.trim(), fields["namespace"]);
      }
    }
  };
  visit(rest);
  return found;
}

/** The Secrets that each object names. */
export type SecretNames = {
  /** Sets the names that an object has from now on; returns the names that are no longer used. */
  set(object: string, names: ReadonlySet<string>): readonly string[];
  of(object: string): ReadonlySet<string>;
  /** Whether any object names the Secret `namespace/name`. */
  has(name: string): boolean;
};

/** Creates an index with the Secrets that the settings name (`always`). */
export function createSecretNames(always: readonly string[]): SecretNames {
  const ofObject = new Map<string, ReadonlySet<string>>();
  const counts = new Map<string, number>();
  const nothing: ReadonlySet<string> = new Set();
  const count = (name: string, step: 1 | -1): number => {
    const next = (counts.get(name) ?? 0) + step;
    if (next === 0) counts.delete(name);
    else counts.set(name, next);
    return next;
  };
  for (const name of always) count(name, 1);
  return {
    set(object, names) {
      const before = ofObject.get(object) ?? nothing;
      for (const name of names) if (!before.has(name)) count(name, 1);
      if (names.size === 0) ofObject.delete(object);
      else ofObject.set(object, names);
      return [...before].filter((name) => !names.has(name) && count(name, -1) === 0);
    },
    of: (object) => ofObject.get(object) ?? nothing,
    has: (name) => counts.has(name) || counts.has(`${anyNamespace}/${name.slice(name.indexOf("/") + 1)}`),
  };
}
