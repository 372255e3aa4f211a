/**
 * Reduces the schemas that Kubernetes and CRDs publish to the form of operator/src/api/schema.ts: replaces references
 * with their targets, and drops descriptions and all parts that the API server does not check.
 */
import type { KindDefinition, Schema } from "../operator/src/api/schema.ts";

/** A schema as published: structural, or the OpenAPI v3 of the Kubernetes API server with `$ref` and `allOf`. */
export type PublishedSchema = {
  readonly [key: string]: unknown;
  readonly description?: string;
  readonly properties?: { readonly [name: string]: PublishedSchema };
  readonly required?: readonly string[];
  readonly items?: PublishedSchema;
  readonly additionalProperties?: PublishedSchema | boolean;
  readonly allOf?: readonly PublishedSchema[];
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
};

export type Crd = {
  readonly kind: string;
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly subresources?: { readonly status?: object };
      readonly schema: { readonly openAPIV3Schema: PublishedSchema };
    }[];
  };
};

const kept = [
  "type",
  "title",
  "format",
  "enum",
  "default",
  "nullable",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-map-keys",
] as const;

const ignored = new Set([
  "description",
  "$ref",
  "x-kubernetes-group-version-kind",
  "x-kubernetes-list-type",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-unions",
  "x-kubernetes-validations",
  "required",
  "properties",
  "items",
  "additionalProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
]);

/** A CRD's schema without descriptions; throws on a keyword that the validator does not know. */
export function reduceStructural(schema: PublishedSchema): Schema {
  const result: Record<string, unknown> = {};
  for (const key of kept) if (schema[key] !== undefined) result[key] = schema[key];
  const unknown = Object.keys(schema).filter(
    (key) => !(kept as readonly string[]).includes(key) && !ignored.has(key),
  );
  if (unknown.length > 0)
    throw new Error(`schema keywords that the validator does not know: ${unknown.join(", ")}`);
  if (schema.properties) {
    result["properties"] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, reduceStructural(value)]),
    );
  }
  if (schema.required && schema.required.length > 0) result["required"] = schema.required;
  if (schema.items) result["items"] = reduceStructural(schema.items);
  if (typeof schema.additionalProperties === "object") {
    result["additionalProperties"] = reduceStructural(schema.additionalProperties);
  }
  for (const key of ["anyOf", "oneOf", "allOf"] as const) {
    const list = schema[key] as readonly PublishedSchema[] | undefined;
    if (list) result[key] = list.map(reduceStructural);
  }
  if (schema["not"]) result["not"] = reduceStructural(schema["not"] as PublishedSchema);
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "map" || listType === "set") result["x-kubernetes-list-type"] = listType;
  const rules = schema["x-kubernetes-validations"] as readonly Record<string, unknown>[] | undefined;
  if (rules) result["x-kubernetes-validations"] = rules.map(reduceRule);
  return result as Schema;
}

function reduceRule({
  rule,
  message,
  messageExpression,
  fieldPath,
}: Record<string, unknown>): Record<string, unknown> {
  if (messageExpression !== undefined || fieldPath !== undefined) {
    throw new Error(
      `a rule uses messageExpression or fieldPath, which the validator does not know: ${String(rule)}`,
    );
  }
  return message === undefined ? { rule } : { rule, message };
}

/** The definition of a CRD's kind. Served versions are accepted, the newest stable one first. */
export function definitionOfCrd(crd: Crd): KindDefinition {
  const served = crd.spec.versions.filter((version) => version.served);
  const preferred = served[0];
  if (preferred === undefined) throw new Error(`${crd.spec.names.kind} has no served version`);
  return {
    kind: crd.spec.names.kind,
    group: crd.spec.group,
    versions: served.map((version) => version.name),
    plural: crd.spec.names.plural,
    namespaced: crd.spec.scope === "Namespaced",
    schema: withoutCommonFields(reduceStructural(preferred.schema.openAPIV3Schema)),
  };
}

/**
 * Replaces `$ref` and single-entry `allOf`. Drops published defaults of core kinds, because they only restate the
 * zero values of Go.
 */
export function inlineReferences(
  schema: PublishedSchema,
  named: { readonly [name: string]: PublishedSchema },
): PublishedSchema {
  const target = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (target !== undefined) {
    const name = target.slice(target.lastIndexOf("/") + 1);
    const found = named[name];
    if (found === undefined) throw new Error(`unknown reference ${target}`);
    if (name.endsWith(".IntOrString")) return { "x-kubernetes-int-or-string": true, format: "int32" };
    if (name.endsWith(".Time")) return { type: "string", format: "date-time" };
    if (name.endsWith(".ObjectMeta")) return { type: "object" };
    return { title: name.slice(name.lastIndexOf(".") + 1), ...inlineReferences(found, named) };
  }
  const { default: _zero, ...rest } = schema;
  return {
    ...rest,
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, value]) => [name, inlineReferences(value, named)]),
      ),
    }),
    ...(schema.items && { items: inlineReferences(schema.items, named) }),
    ...(typeof schema.additionalProperties === "object" && {
      additionalProperties: inlineReferences(schema.additionalProperties, named),
    }),
  };
}

/** Drops apiVersion, kind and metadata, which every kind has and the validator checks separately. */
export function withoutCommonFields(schema: Schema): Schema {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...properties } = schema.properties ?? {};
  const required =
    schema.required?.filter((name) => !["apiVersion", "kind", "metadata"].includes(name)) ?? [];
  const { required: _all, title: _title, ...rest } = schema;
  return { ...rest, properties, ...(required.length > 0 && { required }) };
}
