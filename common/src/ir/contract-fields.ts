/** The fields of resources that this release reads; all others are dropped (docs/upgrading.md, "Version skew"). */
import { z } from "zod";
import { resourceSchemas } from "./resource.ts";

let remembered: readonly string[] | undefined;

/**
 * Returns the path of every field, such as `route.routes.match` or `features.cors.maxAge`, sorted. Items of lists and
 * entries of maps have the path of the list or map. Features are listed once although hosts, routes and backends have
 * them. The list is computed on first use, which takes some milliseconds.
 */
export function contractFields(): readonly string[] {
  if (remembered === undefined) {
    const found: Found = { fields: new Set(), read: new Map() };
    for (const [type, schema] of Object.entries(resourceSchemas)) addFields(schema, type, found);
    remembered = [...found.fields].sort();
  }
  return remembered;
}

type Schema = z.core.$ZodType;

/** `read`: the last path at which a schema was read, because hosts, routes and backends have the same features. */
type Found = { readonly fields: Set<string>; readonly read: Map<Schema, string> };

/** Adds the fields of a schema of objects, and of the schemas within it. */
function addFields(schema: Schema, path: string, found: Found): void {
  if (!(schema instanceof z.ZodObject)) {
    for (const inner of innerSchemas(schema)) addFields(inner, path, found);
    return;
  }
  if (found.read.get(schema) === path) return;
  found.read.set(schema, path);
  for (const [name, field] of Object.entries<Schema>(schema.shape)) {
    const own = name === "features" ? name : `${path}.${name}`;
    found.fields.add(own);
    addFields(field, own, found);
  }
}

/** The schemas of which a schema other than that of an object is composed; empty for a single value. */
function innerSchemas(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodArray) return [schema.element];
  if (schema instanceof z.ZodTuple)
    return [...schema.def.items, ...(schema.def.rest ? [schema.def.rest] : [])];
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right];
  if (schema instanceof z.ZodPipe) return [schema.in];
  if (schema instanceof z.ZodLazy) return [schema.unwrap()];
  const { innerType } = schema._zod.def as { readonly innerType?: Schema };
  return innerType === undefined ? [] : [innerType];
}
