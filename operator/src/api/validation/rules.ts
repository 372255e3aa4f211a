/**
 * Evaluates the CEL rules of a schema (the field `x-kubernetes-validations` of Kubernetes, CRD validation rules). Rules are compiled on first use. They run only on objects whose structure is valid, so
 * list lengths bound the work. A rule that cannot be evaluated never counts against an object.
 */
import { isIP } from "node:net";
import { CelScalar, celEnv, celFunc, celMethod, type CelInput, listType, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { RE2JS } from "re2js";
import type { Schema, ValidationRule } from "../schema.ts";
import { isDnsSubdomain } from "./names.ts";
import { type Findings, reportError } from "./problem.ts";

/** Reports the rules that a structurally valid value violates. */
export type CheckRules = (value: unknown, findings: Findings) => void;

/** Compiles all rules of a schema; undefined if it has none. */
export function compileRules(schema: Schema): CheckRules | undefined {
  const check = compileNode(schema);
  if (check === undefined) return undefined;
  const convert = compileConversion(schema);
  return (value, findings) => check(convert(value), findings);
}

/** Whether a rule compares with the value before an update; an object in a file has no such value. */
export const isTransitionRule = ({ rule }: ValidationRule): boolean => /\boldSelf\b/.test(rule);

type Predicate = (self: CelInput) => boolean;
type CheckNode = (value: CelInput, findings: Findings) => void;

const { STRING, BOOL } = CelScalar;

/** The compiled patterns of rules; the schemas contain a small, fixed number of them. */
const patterns = new Map<string, RE2JS>();

const environment = celEnv({
  re2: {
    compile(pattern) {
      const known = patterns.get(pattern) ?? RE2JS.compile(pattern);
      if (patterns.size < 256) patterns.set(pattern, known);
      return { test: (text: string) => known.test(text) };
    },
  },
  funcs: [
    ...strings,
    // The functions that the schemas use of the libraries that Kubernetes adds to CEL. A format is represented by its
    // name.
    celFunc("isIP", [STRING], BOOL, (text) => isIP(text) !== 0),
    celFunc("format.dns1123Subdomain", [], STRING, () => "dns1123Subdomain"),
    celMethod("validate", STRING, [STRING], listType(STRING), (text) =>
      isDnsSubdomain(text) ? [] : ["invalid"],
    ),
    celMethod("hasValue", listType(STRING), [], BOOL, function () {
      return this.size > 0;
    }),
  ],
});

/** Compiles a CEL expression into a function of its variables. Throws if this evaluator cannot compile it. */
export function compileExpression(
  expression: string,
): (variables: Readonly<Record<string, CelInput>>) => ReturnType<ReturnType<typeof plan>> {
  return plan(environment, parse(expression));
}

/** Compiles a rule into a predicate; undefined if it cannot be compiled here. */
export function compileRule(rule: ValidationRule): Predicate | undefined {
  try {
    const program = compileExpression(rule.rule);
    return (self) => program({ self }) !== false;
  } catch {
    return undefined;
  }
}

function compileNode(schema: Schema): CheckNode | undefined {
  const own = (schema["x-kubernetes-validations"] ?? [])
    .filter((rule) => !isTransitionRule(rule))
    .map((rule) => ({
      message: rule.message ?? `breaks the rule ${rule.rule}`,
      holds: lazily(() => compileRule(rule)),
    }));
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const check = compileNode(child);
    return check === undefined ? [] : [{ name, key: escapeName(name), check }];
  });
  const entrySchema = schema.items ?? schema.additionalProperties;
  const entries = entrySchema === undefined ? undefined : compileNode(entrySchema);
  if (own.length === 0 && fields.length === 0 && entries === undefined) return undefined;
  return (value, findings) => {
    for (const { message, holds } of own) if (holds()?.(value) === false) reportError(findings, message);
    if (value instanceof Map) {
      for (const { name, key, check } of fields) visit(value.get(key), name, check, findings);
      if (entries !== undefined && schema.items === undefined) {
        for (const [name, entry] of value) visit(entry, String(name), entries, findings);
      }
    } else if (Array.isArray(value) && entries !== undefined) {
      for (const [index, entry] of value.entries()) visit(entry, index, entries, findings);
    }
  };
}

function visit(
  value: CelInput | undefined,
  step: string | number,
  check: CheckNode,
  findings: Findings,
): void {
  if (value === undefined) return;
  findings.path.push(step);
  check(value, findings);
  findings.path.pop();
}

/** Converts values for CEL: objects become maps, and integers become bigints, which CEL distinguishes from doubles. */
function compileConversion(schema: Schema): (value: unknown) => CelInput {
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compileConversion(child)] as const),
  );
  const names = new Map([...fields.keys()].map((name) => [name, escapeName(name)]));
  const entrySchema = schema.items ?? schema.additionalProperties;
  const entry = entrySchema === undefined ? convertOpen : compileConversion(entrySchema);
  const integral = schema.type === "integer" || schema["x-kubernetes-int-or-string"] === true;
  return (value) => {
    if (typeof value === "number") return integral ? BigInt(value) : value;
    if (Array.isArray(value)) return value.map(entry);
    if (typeof value !== "object" || value === null) return convertOpen(value);
    return new Map(
      Object.entries(value).map(([name, child]) => [
        names.get(name) ?? name,
        (fields.get(name) ?? entry)(child),
      ]),
    );
  };
}

/** Converts a value whose schema is open; rules cannot name its fields. */
function convertOpen(value: unknown): CelInput {
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number" ? value : null;
}

const celKeywords = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The name of a field in rules, escaped as by Kubernetes. */
function escapeName(name: string): string {
  if (celKeywords.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
