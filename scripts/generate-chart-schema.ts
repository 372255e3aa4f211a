/**
 * The generated parts of the chart's schema: the flags by role, so that an unknown flag fails the installation and
 * not the pods; and the meaning and default of every value, from the comments of values.yaml. The types of values are
 * written in the schema itself.
 */
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from "yaml";
import { flags } from "../common/src/settings/flags.ts";
import type { Flag, Role } from "../common/src/settings/flag.ts";

/**
 * Flags that the chart sets itself because they must match its manifests: the ports of the containers, the names of
 * Services, the paths of mounts.
 */
const ownFlags: ReadonlySet<string> = new Set([
  "admin-auth",
  "admin-port",
  "admin-ui",
  "dedicated",
  "dedicated-pod-template",
  "disable-cluster-scope",
  "disable-dedicated-gateways",
  "discovery-bootstrap-endpoint",
  "discovery-bootstrap-port",
  "discovery-ca-bundle-path",
  "discovery-endpoint",
  "discovery-port",
  "discovery-sa-token-path",
  "discovery-service",
  "gateway-name",
  "gateway-namespace",
  "health-port",
  "log",
  "log-format",
  "pod-name",
  "pod-namespace",
  "read-namespace",
  "shared",
  "shared-proxy-service-account",
]);

export const chartFlags = (role: Role): readonly string[] =>
  flags
    .filter((flag: Flag) => flag.roles.includes(role) && !ownFlags.has(flag.name))
    .map(({ name }) => name)
    .sort();

/** A part of the schema, which describes one value. */
export type SchemaNode = {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The meaning of a value; groups of values have none. */
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
};

export type Schema = SchemaNode & { readonly definitions: Readonly<Record<string, unknown>> };

const flagMap = (role: Role): object => ({
  type: "object",
  propertyNames: { enum: chartFlags(role) },
  additionalProperties: { type: ["string", "number", "boolean"] },
});

/** The schema with the current flags, and with the meanings and defaults of values.yaml, in the order of that file. */
export function completeSchema(text: string, valuesYaml: string): Schema {
  const schema = JSON.parse(text) as Schema;
  const definitions = {
    ...schema.definitions,
    controllerFlags: flagMap("controller"),
    proxyFlags: flagMap("proxy"),
  };
  const values = parseDocument(valuesYaml).contents;
  return {
    ...schema,
    definitions,
    properties: describe(schema.properties, isMap(values) ? values : undefined),
  };
}

function describe(
  properties: SchemaNode["properties"] = {},
  values: YAMLMap | undefined,
): Readonly<Record<string, SchemaNode>> {
  const described = (values?.items ?? []).flatMap((pair, index) => {
    const name = String(isScalar(pair.key) ? pair.key.value : pair.key);
    const node = properties[name];
    if (node === undefined) return [];
    const description = commentOf(pair, index === 0 ? values?.commentBefore : undefined);
    return [[name, describeOne(node, pair.value, description)] as const];
  });
  return {
    ...Object.fromEntries(described),
    ...withoutNames(properties, new Set(described.map(([name]) => name))),
  };
}

function describeOne(node: SchemaNode, value: unknown, description: string | undefined): SchemaNode {
  if (description !== undefined) return { ...node, description, default: toPlain(value) };
  return { ...node, properties: describe(node.properties, isMap(value) ? value : undefined) };
}

const withoutNames = (
  properties: Readonly<Record<string, SchemaNode>>,
  names: ReadonlySet<string>,
): Readonly<Record<string, SchemaNode>> =>
  Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name)));

/** The comment above a key. For the first key of a map, YAML attaches the comment to the map. */
function commentOf(pair: Pair, ofMap: string | null | undefined): string | undefined {
  const own = isScalar(pair.key) ? pair.key.commentBefore : undefined;
  const comment = own ?? ofMap;
  return comment == null
    ? undefined
    : comment
        .split("\n")
        .map((line) => line.trim())
        .join(" ");
}

const toPlain = (node: unknown): unknown =>
  node !== null && typeof node === "object" && "toJSON" in node && typeof node.toJSON === "function"
    ? (node.toJSON() as unknown)
    : null;
