import { ok, problem, type Problem, type Result } from "../values/result.ts";
import { clipText } from "../values/clip.ts";
import { mostSimilar } from "../values/similar.ts";
import type { Flag } from "./flag.ts";

/** A parsed command line: the text of each flag, and the words that belong to no flag. */
export type Arguments = {
  readonly texts: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
};

/**
 * Splits a command line. A flag is `--flag value` or `--flag=value`; a switch is `--flag`, `--flag=false` or
 * `--flag false`. Words after `--` are positional. Unknown, repeated and incomplete flags are problems.
 */
export function splitArguments(known: readonly Flag[], argv: readonly string[]): Result<Arguments, Problem> {
  const byName = new Map(known.map((flag) => [flag.name, flag]));
  const texts = new Map<string, string>();
  const positionals: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    if (word === "--") {
      positionals.push(...argv.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const spelled = equals < 0 ? word : word.slice(0, equals);
    const name = spelled.slice(2);
    const flag = spelled.startsWith("--") ? byName.get(name) : undefined;
    if (flag === undefined)
      return problem(`${clip(spelled)}: unknown flag${suggestion(name, [...byName.keys()])}`);
    const before = texts.get(name);
    if (before !== undefined && flag.type.isRepeatable !== true) return problem(`--${name}: given twice`);
    const take = (text: string): void =>
      void texts.set(name, before === undefined ? text : `${before},${text}`);
    if (equals >= 0) {
      take(word.slice(equals + 1));
      continue;
    }
    const next = argv[index + 1];
    if (flag.type.isSwitch === true) {
      const takesNext = next !== undefined && flag.type.parse(next).ok;
      take(takesNext ? next : "true");
      if (takesNext) index += 1;
    } else {
      if (next === undefined || next.startsWith("--"))
        return problem(`--${name}: expected ${flag.type.expected}, got nothing`);
      take(next);
      index += 1;
    }
  }
  return ok({ texts, positionals });
}

/** Prepares external text for an error line: limited in length, on one line. */
export function clip(text: string): string {
  const json = JSON.stringify(clipText(text, 80).text);
  return json.slice(1, -1);
}

const suggestion = (wrong: string, names: readonly string[]): string => {
  const meant = mostSimilar(wrong, names);
  return meant === undefined ? "" : ` (did you mean --${meant}?)`;
};
