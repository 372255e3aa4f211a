import { ok, problem, type Problem, type Result } from "../values/result.ts";
import { clip, splitArguments } from "./arguments.ts";
import { defaultIn, variableOf, type Flag, type Role } from "./flag.ts";

/** The arguments and environment of a process. */
export type FlagInput = {
  /** The words after the command, such as those after `serve proxy`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The values of flags by setting name, and the positional words. */
export type FlagValues = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
};

/**
 * Reads the flags of a command. A flag on the command line takes precedence over its variable, and a variable over the
 * default. The problem is one line that names the flag or variable, the expected form and the actual text.
 */
export function readFlags(
  known: readonly Flag[],
  role: Role,
  { argv, env }: FlagInput,
): Result<FlagValues, Problem> {
  const split = splitArguments(known, argv);
  if (!split.ok) return split;
  const values: Record<string, unknown> = {};
  for (const flag of known) {
    const value = readFlag(flag, role, split.value.texts.get(flag.name), env);
    if (!value.ok) return value;
    values[settingName(flag)] = value.value;
  }
  const missing = known.find((flag) => flag.isRequired === true && values[settingName(flag)] === undefined);
  if (missing !== undefined)
    return problem(`--${missing.name}: required: ${missing.type.expected} (or set ${variableOf(missing)})`);
  return ok({ values, positionals: split.value.positionals });
}

/** The property that holds the value of a flag: camel case and the unit of its type. */
export function settingName({ name, type }: Pick<Flag, "name" | "type">): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) + type.unit;
}

function readFlag(
  flag: Flag,
  role: Role,
  argument: string | undefined,
  env: FlagInput["env"],
): Result<unknown, Problem> {
  if (argument !== undefined) return parse(flag, `--${flag.name}`, argument);
  const variable = [variableOf(flag), flag.fallbackVariable].find(
    (name) => name !== undefined && isSet(flag, name, env[name]),
  );
  if (variable !== undefined) return parse(flag, variable, env[variable] ?? "");
  return ok(defaultIn(flag, role));
}

function parse(flag: Flag, source: string, text: string): Result<unknown, Problem> {
  const parsed = flag.type.parse(text);
  if (parsed.ok) return parsed;
  const got = flag.type.explain?.(text) ?? `got "${clip(text)}"`;
  return problem(`${source}: expected ${flag.type.expected}, ${got}`);
}

function isSet(flag: Flag, variable: string, text: string | undefined): boolean {
  if (text === undefined || isServiceLink(variable, text)) return false;
  return text !== "" || flag.type.acceptsEmpty === true;
}

/**
 * The unknown variables with the prefix of this product, which are probably misspelt. Variables for flags of other
 * roles are known, so that one environment can serve several processes.
 */
export function unknownVariables(all: readonly Flag[], env: FlagInput["env"]): readonly string[] {
  const known = new Set(all.flatMap((flag) => [variableOf(flag), flag.fallbackVariable]));
  return Object.keys(env)
    .filter((name) => name.startsWith("SVC_") && !known.has(name) && !isServiceLink(name, env[name] ?? ""))
    .toSorted();
}

/**
 * Reports whether a variable describes a Service. Kubernetes passes each Service of the namespace to its pods in
 * variables named after it: a Service `svc-admin` yields `SVC_ADMIN_PORT=tcp://10.0.0.1:80`, which is not a setting.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(value))
  );
}
