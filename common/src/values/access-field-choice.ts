import { didYouMean } from "./similar.ts";
import { ok, problem, type Problem, type Result } from "./result.ts";
import { accessFields, type AccessFieldName, isAccessField } from "./access-fields.ts";

/**
 * The configured fields of access-log lines. Names alone are the complete list; `+name` adds a field to the inherited
 * list and `-name` removes one. An empty list changes nothing.
 */
export type FieldChoice = readonly string[];

const expected = "names of fields of the access log, all of them alone or all of them with + or -";

/** Checks one word of a choice. */
export function checkFieldWord(word: string): Problem | undefined {
  const name = word.replace(/^[+-]/, "");
  if (isAccessField(name)) return undefined;
  const hint = didYouMean(
    name,
    accessFields.map((field) => field.name),
  );
  return { message: `"${name.slice(0, 40)}" is not a field of the access log${hint}`, expected };
}

/** Checks a choice as a whole: a list either is complete or changes another one, never both. */
export function readFieldChoice(words: readonly string[]): Result<FieldChoice, Problem> {
  for (const word of words) {
    const wrong = checkFieldWord(word);
    if (wrong !== undefined) return { ok: false, error: wrong };
  }
  const changes = words.filter(isChange).length;
  return changes === 0 || changes === words.length
    ? ok(words)
    : problem("fields with + or - are mixed with fields without", expected);
}

/** The resulting fields, in the order of their declarations. */
export function chosenFields(
  choice: FieldChoice,
  base: readonly AccessFieldName[],
): readonly AccessFieldName[] {
  if (choice.length === 0) return base;
  const chosen = new Set<string>(choice.every(isChange) ? base : []);
  for (const word of choice) {
    if (word.startsWith("-")) chosen.delete(word.slice(1));
    else chosen.add(word.replace(/^\+/, ""));
  }
  return accessFields.map(({ name }) => name).filter((name) => chosen.has(name));
}

const isChange = (word: string): boolean => word.startsWith("+") || word.startsWith("-");
