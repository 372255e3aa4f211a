/** The fields of resources that this release reads: what lies beyond them is dropped (docs/upgrading.md, "Version skew"). */
import { z } from "zod";
import { resourceSchemas } from "./resource.ts";

type JsonSchema = {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
};

let remembered: readonly string[] | undefined;

/**
 * Every field by its path, such as `route.routes.match` or `features.cors.maxAge`, sorted. Items of lists and entries of maps have the
 * path of the list or map, and features are listed once although hosts, routes and backends have them. It is made when it is asked
 * for first, which takes some tens of milliseconds.
 */
export function contractFields(): readonly string[] {
  remembered ??= [
    ...new Set(
      Object.entries(resourceSchemas).flatMap(([type, schema]) => fieldsOf(jsonSchemaOf(schema), type)),
    ),
  ].sort();
  return remembered;
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as JsonSchema;

function fieldsOf(schema: JsonSchema, path: string): readonly string[] {
  const {
    properties = {},
    items,
    prefixItems = [],
    additionalProperties,
    anyOf = [],
    oneOf = [],
    allOf = [],
  } = schema;
  const same = [...prefixItems, ...anyOf, ...oneOf, ...allOf];
  if (items !== undefined) same.push(items);
  if (typeof additionalProperties === "object") same.push(additionalProperties);
  return [
    ...Object.entries(properties).flatMap(([name, one]) => {
      const own = name === "features" ? name : `${path}.${name}`;
      return [own, ...fieldsOf(one, own)];
    }),
    ...same.flatMap((one) => fieldsOf(one, path)),
  ];
}
