/** Checks of single values: types, enums, ranges, lengths, patterns, formats, and combinations of these. */
import { isIPv4, isIPv6 } from "node:net";
import type { Schema } from "../schema.ts";
import { describeValue, isRecord } from "./problem.ts";

/** Returns what is expected of an invalid value, in words that follow "must"; undefined for a valid value. */
export type Constraint = (value: unknown) => string | undefined;

/** The longest text that is matched against a pattern, so that matching stays cheap; longer text never matches. */
const maxPatternLength = 4096;

/** The constraints of a string; the first one that fails, in this order, is reported. */
export function compileString(schema: Schema): readonly Constraint[] {
  const { minLength, maxLength, pattern } = schema;
  const constraints: Constraint[] = [];
  if (maxLength !== undefined) {
    constraints.push((value) =>
      textLengthIsAtMost(value as string, maxLength) ? undefined : `be at most ${maxLength} characters long`,
    );
  }
  if (minLength !== undefined) {
    const expected = minLength === 1 ? "not be empty" : `be at least ${minLength} characters long`;
    constraints.push((value) => ((value as string).length >= minLength ? undefined : expected));
  }
  if (pattern !== undefined) {
    const expression = new RegExp(pattern, "u");
    constraints.push((value) =>
      (value as string).length <= maxPatternLength && expression.test(value as string)
        ? undefined
        : `match ${pattern}`,
    );
  }
  return [...constraints, ...compileFormat(schema.format)];
}

export function compileNumber({ type, format, minimum, maximum }: Schema): readonly Constraint[] {
  const low = minimum ?? (format === "int32" ? -(2 ** 31) : undefined);
  const high = maximum ?? (format === "int32" ? 2 ** 31 - 1 : undefined);
  const noun = type === "integer" ? "an integer" : "a number";
  return [
    (value) =>
      (type === "integer" ? isInt64(value as number) : Number.isFinite(value)) ? undefined : `be ${noun}`,
    (value) => {
      const number = value as number;
      if ((low === undefined || number >= low) && (high === undefined || number <= high)) return undefined;
      if (low !== undefined && high !== undefined) return `be from ${low} to ${high}`;
      return low === undefined ? `be at most ${high}` : `be at least ${low}`;
    },
  ];
}

/** Whether the API server stores a number as an integer, even if a number of ECMAScript only approximates it. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

export function compileEnum(values: readonly unknown[]): Constraint {
  const expected = `be ${values.length === 1 ? "" : "one of "}${values.map(bare).join(", ")}`;
  return (value) => (values.includes(value) ? undefined : expected);
}

function compileFormat(format: string | undefined): readonly Constraint[] {
  const known = format === undefined ? undefined : formats.get(format);
  if (known === undefined) return [];
  return [(value) => (known.test(value as string) ? undefined : known.expected)];
}

const formats: ReadonlyMap<string, { readonly expected: string; readonly test: (text: string) => boolean }> =
  new Map([
    ["date-time", { expected: "be an RFC 3339 time", test: isDateTime }],
    ["byte", { expected: "be base64 text", test: isBase64 }],
    ["ipv4", { expected: "be an IPv4 address", test: isIPv4 }],
    ["ipv6", { expected: "be an IPv6 address", test: isIPv6 }],
  ]);

function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  );
}

/** Whether a text is padded standard base64; line breaks are allowed, as in Go's decoder. */
function isBase64(text: string): boolean {
  const plain = text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]/g, "") : text;
  return plain.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** Compiles `anyOf`, `oneOf`, `allOf` and `not`, which in a structural schema only constrain values. */
export function compileCombinations(schema: Schema): readonly Constraint[] {
  const constraints: Constraint[] = [];
  for (const [key, accepts] of [
    ["anyOf", (count: number) => count >= 1],
    ["oneOf", (count: number) => count === 1],
  ] as const) {
    const branches = schema[key];
    if (branches === undefined) continue;
    const tests = branches.map(compileTest);
    const expected = `have ${branches.map(describeTest).join(", or ")}`;
    constraints.push((value) => (accepts(tests.filter((test) => test(value)).length) ? undefined : expected));
  }
  for (const branch of schema.allOf ?? []) {
    const test = compileTest(branch);
    constraints.push((value) => (test(value) ? undefined : `have ${describeTest(branch)}`));
  }
  if (schema.not !== undefined) {
    const test = compileTest(schema.not);
    const expected = `not have ${describeTest(schema.not)}`;
    constraints.push((value) => (test(value) ? expected : undefined));
  }
  return constraints;
}

/** Compiles a branch of a combination into a test. Constraints of one type do not apply to values of another. */
function compileTest(schema: Schema): (value: unknown) => boolean {
  const strings = compileString(schema);
  const always = [...(schema.enum ? [compileEnum(schema.enum)] : []), ...compileCombinations(schema)];
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, child]) => [name, compileTest(child)] as const,
  );
  return (value) => {
    if (always.some((constraint) => constraint(value) !== undefined)) return false;
    if (typeof value === "string") return strings.every((constraint) => constraint(value) === undefined);
    if (!isRecord(value)) return true;
    return (
      (schema.required ?? []).every((name) => Object.hasOwn(value, name)) &&
      fields.every(([name, test]) => !Object.hasOwn(value, name) || test(value[name]))
    );
  };
}

function describeTest(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(bare).join(" or ");
  if (schema.format !== undefined) return schema.format;
  if (schema.not !== undefined) return `not ${describeTest(schema.not)}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeTest).join(" or ");
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, child]) => `${name} ${describeTest(child)}`,
  );
  return [...fields, ...(schema.required ?? [])].join(" with ");
}

const bare = (value: unknown): string =>
  typeof value === "string" && value !== "" ? value : describeValue(value);

/** Compares the length of a text in code points, as Kubernetes does. A code point has one or two UTF-16 units. */
function textLengthIsAtMost(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let count = 0;
  for (const _codePoint of text) count++;
  return count <= max;
}
