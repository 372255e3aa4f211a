/** Describes the start of a container: its flags and environment variables, without secrets. */
import { flagsOf } from "@svc-gateway/common/settings/settings.ts";
import { originOf } from "./described-object.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

export type EnvVar = { readonly name: string; readonly value?: string; readonly valueFrom?: object };

export type StartedContainer = {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
};

/** Flags whose values are withheld although they are valid: a pod template can have variables with secrets. */
const withheldFlags: ReadonlySet<string> = new Set(["dedicated-pod-template"]);

const known = new Map([...flagsOf("controller"), ...flagsOf("proxy")].map((flag) => [flag.name, flag]));
const variables = new Map(
  [...known.keys()].map((name) => [`SVC_${name.toUpperCase().replaceAll("-", "_")}`, name]),
);

/** Describes flags of this gateway with their values; the texts of all other words and variables are withheld. */
export function describeStart(
  { command = [], args = [], env = [] }: StartedContainer,
  withheld: WithheldTexts,
): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  return {
    args: [...command, ...args].map((word) => describeWord(word, withheld)),
    env: Object.fromEntries(env.map((variable) => [variable.name, describeVariable(variable, withheld)])),
  };
}

const plainWords: ReadonlySet<string> = new Set([
  "serve",
  "controller",
  "proxy",
  "standalone",
  "svc-gateway",
  "node",
]);

function describeWord(word: string, withheld: WithheldTexts): string {
  const [, name = "", value] = /^--([a-z0-9-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === "") return plainWords.has(word) ? word : withheld.withhold(word);
  return value === undefined ? word : `--${name}=${valueOf(name, value, withheld)}`;
}

function describeVariable({ name, value, valueFrom }: EnvVar, withheld: WithheldTexts): string {
  if (valueFrom !== undefined) return "[by reference]";
  const flagName = variables.get(name);
  return flagName === undefined ? withheld.withhold(value ?? "") : valueOf(flagName, value ?? "", withheld);
}

function valueOf(name: string, value: string, withheld: WithheldTexts): string {
  const flag = known.get(name);
  // A value that is invalid for its flag can be anything, including a secret.
  if (flag === undefined || withheldFlags.has(name) || !flag.type.parse(value).ok)
    return withheld.withhold(value);
  return flag.type.name === "url" ? originOf(value, withheld) : value;
}
