/**
 * A fast test of whether a value fits a schema unchanged. Almost all of the tens of thousands of bodies of a snapshot
 * do. For them, the test takes a fraction of the time of zod, which copies the values that it reads
 * (docs/adr/0043-start.md).
 */
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";

type Schema = z.core.$ZodType;

/**
 * Whether a value returned by JSON.parse fits a schema, and zod would return an equal value, which means that it has no
 * unknown field.
 */
export type Accepts = (value: unknown) => boolean;

const known = new WeakMap<Schema, Accepts>();

/**
 * Returns the test for a schema; parts of the test are created when a value first needs them. A result of false is not
 * conclusive: zod must then decide, and describe the problem.
 */
export function acceptsOf(schema: Schema): Accepts {
  let accepts = known.get(schema);
  if (accepts === undefined) known.set(schema, (accepts = testOf(schema as z.core.$ZodTypes)));
  return accepts;
}

function testOf(schema: z.core.$ZodTypes): Accepts {
  const { def } = schema._zod;
  const hasChecks = (def.checks ?? []).length > 0;
  if (hasChecks && def.type !== "array" && def.type !== "number") return byZod(schema);
  switch (def.type) {
    case "object":
      return def.catchall === undefined ? objectTest(def.shape) : byZod(schema);
    case "array":
      return arrayTest(schema, def);
    case "string":
      return hasForm(def) ? byZod(schema) : (value) => typeof value === "string";
    case "number":
      return numberTest(schema, def);
    case "boolean":
      return (value) => typeof value === "boolean";
    case "literal":
      return oneOf(def.values);
    case "enum":
      return oneOf(Object.values(def.entries));
    case "optional":
    case "readonly":
      return acceptsOf(def.innerType);
    default:
      return byZod(schema);
  }
}

function objectTest(shape: Readonly<Record<string, Schema>>): Accepts {
  let fields: ReadonlyMap<string, Accepts> | undefined;
  let required: readonly string[] = [];
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    if (fields === undefined) {
      fields = new Map(Object.entries(shape).map(([name, schema]) => [name, acceptsOf(schema)]));
      required = Object.keys(shape).filter((name) => !isOptional(shape[name]));
    }
    for (const name in value) {
      const accepts = fields.get(name);
      if (accepts === undefined || !accepts((value as Readonly<Record<string, unknown>>)[name])) return false;
    }
    return required.every((name) => Object.hasOwn(value, name));
  };
}

function arrayTest(schema: Schema, { element, checks = [] }: z.core.$ZodArrayDef): Accepts {
  let [min, max] = [0, Infinity];
  for (const check of checks) {
    const { def } = (check as z.core.$ZodChecks)._zod;
    if (def.check === "min_length") min = Math.max(min, def.minimum);
    else if (def.check === "max_length") max = Math.min(max, def.maximum);
    else return byZod(schema);
  }
  let accepts: Accepts | undefined;
  return (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return false;
    accepts ??= acceptsOf(element);
    for (const item of value) if (!accepts(item)) return false;
    return true;
  };
}

function numberTest(schema: Schema, def: z.core.$ZodNumberDef): Accepts {
  const { format } = def as { readonly format?: string };
  if (format !== undefined && format !== "safeint") return byZod(schema);
  const isNumber = format === undefined ? Number.isFinite : Number.isSafeInteger;
  let [least, most] = [-Infinity, Infinity];
  for (const check of def.checks ?? []) {
    const { def: limit } = (check as z.core.$ZodChecks)._zod;
    if (limit.check === "number_format") continue;
    if (limit.check === "greater_than" && limit.inclusive) least = Math.max(least, Number(limit.value));
    else if (limit.check === "less_than" && limit.inclusive) most = Math.min(most, Number(limit.value));
    else return byZod(schema);
  }
  return (value) => isNumber(value) && (value as number) >= least && (value as number) <= most;
}

function oneOf(values: readonly unknown[]): Accepts {
  const allowed = new Set(values);
  return (value) => allowed.has(value);
}

/**
 * Delegates a part to zod: forms that are rare in bodies, and unions, whose first fitting option may drop a field of
 * another one.
 */
const byZod =
  (schema: Schema): Accepts =>
  (value) => {
    const read = (schema as z.ZodType).safeParse(value);
    return read.success && isDeepStrictEqual(read.data, value);
  };

const hasForm = (def: z.core.$ZodStringDef): boolean => {
  const { format } = def as z.core.$ZodStringDef & { readonly format?: string };
  return format !== undefined || def.coerce === true;
};

function isOptional(schema: Schema | undefined): boolean {
  const def = (schema as z.core.$ZodTypes | undefined)?._zod.def;
  return def?.type === "optional" || (def?.type === "readonly" && isOptional(def.innerType));
}
