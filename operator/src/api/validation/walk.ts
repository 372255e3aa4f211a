/**
 * Compiles a schema into a function that checks a value, drops unknown fields and fills in defaults, as the API server
 * does when it stores an object (Kubernetes documentation, "Extend the Kubernetes API with CustomResourceDefinitions":
 * pruning, defaulting and nullable). The result shares only text with the input.
 */
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import type { Schema } from "../schema.ts";
import {
  compileCombinations,
  compileEnum,
  compileNumber,
  compileString,
  type Constraint,
} from "./constraints.ts";
import type { Findings } from "./problem.ts";
import {
  describeValue,
  isRecord,
  reportError,
  reportErrorAt,
  reportMisspelt,
  reportWarning,
  setOwn,
  takeValue,
} from "./problem.ts";

/** Returns the checked copy of a value and adds problems to the findings. */
export type Walk = (value: unknown, findings: Findings) => unknown;

/** The largest number of levels below a field whose content the schema leaves open. */
const maxOpenDepth = 64;

export function compileWalk(schema: Schema): Walk {
  const constraints = [
    ...(schema.enum === undefined ? [] : [compileEnum(schema.enum)]),
    ...(schema["x-kubernetes-int-or-string"] === true ? [] : compileCombinations(schema)),
  ];
  const walk = compileType(schema, constraints);
  if (schema.nullable !== true) return walk;
  return (value, findings) => (value === null ? null : walk(value, findings));
}

function compileType(schema: Schema, constraints: readonly Constraint[]): Walk {
  if (schema["x-kubernetes-int-or-string"] === true) return compileIntOrString(schema, constraints);
  switch (schema.type) {
    case "string":
      return scalar("a string", (value) => typeof value === "string", [
        ...constraints,
        ...compileString(schema),
      ]);
    case "boolean":
      return scalar("true or false", (value) => typeof value === "boolean", constraints);
    case "integer":
      return scalar("an integer", (value) => typeof value === "number", [
        ...compileNumber(schema),
        ...constraints,
      ]);
    case "number":
      return scalar("a number", (value) => typeof value === "number", [
        ...compileNumber(schema),
        ...constraints,
      ]);
    case "array":
      return compileArray(schema, constraints);
    case "object":
      if (schema.properties !== undefined) return compileObject(schema, constraints);
      return schema.additionalProperties === undefined
        ? openObject
        : compileMap(schema, schema.additionalProperties);
    default:
      return (value, findings) => copyOpen(value, findings, 0);
  }
}

function scalar(
  expected: string,
  isType: (value: unknown) => boolean,
  constraints: readonly Constraint[],
): Walk {
  return (value, findings) => {
    takeValue(findings);
    if (!isType(value)) reportError(findings, `must be ${expected}, found ${describeValue(value)}`);
    else checkAll(constraints, value, findings);
    return value;
  };
}

function compileIntOrString(schema: Schema, constraints: readonly Constraint[]): Walk {
  const strings = [...constraints, ...compileString(schema)];
  const numbers = [...constraints, ...compileNumber({ ...schema, type: "integer" })];
  return (value, findings) => {
    takeValue(findings);
    if (typeof value === "string") checkAll(strings, value, findings);
    else if (typeof value === "number") checkAll(numbers, value, findings);
    else reportError(findings, `must be an integer or a string, found ${describeValue(value)}`);
    return value;
  };
}

function checkAll(constraints: readonly Constraint[], value: unknown, findings: Findings): void {
  for (const constraint of constraints) {
    const expected = constraint(value);
    if (expected === undefined) continue;
    const found = typeof value === "object" ? "" : `, found ${describeValue(value)}`;
    reportError(findings, `must ${expected}${found}`);
    return;
  }
}

function compileObject(schema: Schema, constraints: readonly Constraint[]): Walk {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compileWalk(child)]),
  );
  const nullable = new Set(
    Object.keys(schema.properties ?? {}).filter((name) => schema.properties?.[name]?.nullable),
  );
  const defaults = Object.entries(schema.properties ?? {}).filter(([, child]) => child.default !== undefined);
  const required = schema.required ?? [];
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  return (value, findings) => {
    if (!takeValue(findings)) return {};
    if (!isRecord(value)) {
      reportError(findings, `must be an object, found ${describeValue(value)}`);
      return {};
    }
    const result: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const field = value[name];
      const walk = fields.get(name);
      if (field === undefined || (field === null && !nullable.has(name))) continue;
      findings.path.push(name);
      if (walk !== undefined) setOwn(result, name, walk(field, findings));
      else if (keepsUnknown) setOwn(result, name, copyOpen(field, findings, 0));
      else reportUnknown(findings, name, fields.keys());
      findings.path.pop();
    }
    for (const [name, child] of defaults) {
      if (!Object.hasOwn(result, name)) result[name] = fields.get(name)?.(child.default, findings);
    }
    for (const name of required) {
      if (!Object.hasOwn(result, name)) reportErrorAt(findings, [name], "is required");
    }
    checkAll(constraints, result, findings);
    return result;
  };
}

/**
 * Reports an unknown field. If its name resembles that of a known field, the known field was probably intended and
 * lacks its value.
 */
function reportUnknown(findings: Findings, name: string, known: Iterable<string>): void {
  const meant = mostSimilar(name, known);
  if (meant === undefined) reportWarning(findings, "unknown field");
  else reportMisspelt(findings, `unknown field (did you mean ${meant}?)`);
}

function compileMap(schema: Schema, valueSchema: Schema): Walk {
  const walk = compileWalk(valueSchema);
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  return (value, findings) => {
    if (!takeValue(findings)) return {};
    if (!isRecord(value)) {
      reportError(findings, `must be an object, found ${describeValue(value)}`);
      return {};
    }
    const names = Object.keys(value);
    if (names.length > maxProperties) {
      reportError(findings, `must have at most ${count(maxProperties)}, found ${names.length}`);
      return {};
    }
    if (names.length < minProperties) {
      reportError(findings, `must have at least ${count(minProperties)}, found ${names.length}`);
    }
    const result: Record<string, unknown> = {};
    for (const name of names) {
      if (value[name] === null || value[name] === undefined) continue;
      findings.path.push(name);
      setOwn(result, name, walk(value[name], findings));
      findings.path.pop();
    }
    return result;
  };
}

function compileArray(schema: Schema, constraints: readonly Constraint[]): Walk {
  const walk = compileWalk(schema.items ?? {});
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const keys = schema["x-kubernetes-list-map-keys"];
  const unique = schema["x-kubernetes-list-type"];
  return (value, findings) => {
    if (!takeValue(findings)) return [];
    if (!Array.isArray(value)) {
      reportError(findings, `must be a list, found ${describeValue(value)}`);
      return [];
    }
    if (value.length > maxItems || value.length < minItems) {
      const expected = value.length > maxItems ? `at most ${count(maxItems)}` : `at least ${count(minItems)}`;
      reportError(findings, `must have ${expected}, found ${value.length}`);
      return [];
    }
    const result: unknown[] = [];
    for (let index = 0; index < value.length && findings.valuesLeft > 0; index++) {
      findings.path.push(index);
      result.push(walk(value[index], findings));
      findings.path.pop();
    }
    if (unique !== undefined) reportDuplicates(result, unique === "map" ? (keys ?? []) : undefined, findings);
    checkAll(constraints, result, findings);
    return result;
  };
}

const count = (entries: number): string => (entries === 1 ? "1 entry" : `${entries} entries`);

/** Reports duplicates. Entries of a set must differ; entries of a map list must differ in their key fields. */
function reportDuplicates(
  list: readonly unknown[],
  keys: readonly string[] | undefined,
  findings: Findings,
): void {
  const seen = new Map<string, number>();
  for (const [index, entry] of list.entries()) {
    const identity =
      keys === undefined ? entry : keys.map((key) => (isRecord(entry) ? (entry[key] ?? null) : null));
    const text = JSON.stringify(identity);
    const first = seen.get(text);
    if (first === undefined) seen.set(text, index);
    else
      reportErrorAt(
        findings,
        [index],
        `repeats entry ${first}${keys === undefined ? "" : ` (same ${keys.join(", ")})`}`,
      );
  }
}

const openObject: Walk = (value, findings) => {
  if (isRecord(value)) return copyOpen(value, findings, 0);
  takeValue(findings);
  reportError(findings, `must be an object, found ${describeValue(value)}`);
  return {};
};

/** Copies a value of any shape, with a limit on its depth. */
function copyOpen(value: unknown, findings: Findings, depth: number): unknown {
  if (!takeValue(findings)) return null;
  if (depth > maxOpenDepth) {
    reportError(findings, `must not be nested deeper than ${maxOpenDepth} levels`);
    return null;
  }
  if (Array.isArray(value)) return value.map((entry) => copyOpen(entry, findings, depth + 1));
  if (isRecord(value)) {
    const result: Record<string, unknown> = {};
    for (const name of Object.keys(value)) setOwn(result, name, copyOpen(value[name], findings, depth + 1));
    return result;
  }
  if (value === null || ["string", "boolean", "number"].includes(typeof value)) return value;
  reportError(findings, `must be a JSON value, found ${describeValue(value)}`);
  return null;
}
