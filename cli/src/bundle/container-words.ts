/** How a container is started: its flags and the names of its variables. */
import { flagsOf } from "@svc-gateway/common/settings/settings.ts";
import { originOf } from "./described-object.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

export type EnvVar = { readonly name: string; readonly value?: string; readonly valueFrom?: object };

export type StartedContainer = {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
};

/** Flags whose values may hold anything: a pod template has variables. */
const withheldFlags: ReadonlySet<string> = new Set(["dedicated-pod-template"]);

const known = new Map([...flagsOf("controller"), ...flagsOf("proxy")].map((flag) => [flag.name, flag]));
const variables = new Map(
  [...known.keys()].map((name) => [`SVC_${name.toUpperCase().replaceAll("-", "_")}`, name]),
);

/** Flags of this gateway with their values; of everything else only that it is there. */
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
  // A value that the flag does not take is not what it should be, and may be anything.
  if (flag === undefined || withheldFlags.has(name) || !flag.type.parse(value).ok)
    return withheld.withhold(value);
  return flag.type.name === "url" ? originOf(value, withheld) : value;
}
