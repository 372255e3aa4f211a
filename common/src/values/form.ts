import { problem, type Problem, type Result } from "./result.ts";

/**
 * The syntax of a kind of values. The admission policy of the chart checks this syntax and the parsers report with it,
 * so that a value is rejected with the same text as in an Event.
 */
export type Form = {
  /** A regular expression in RE2 syntax for the whole trimmed value. */
  readonly pattern: string;
  /** "a duration": what a value without the form is not. */
  readonly noun: string;
  /** What would have been accepted. */
  readonly expected: string;
};

/** Characters of a rejected value in a message. */
export const maxExcerpt = 80;

/** The failure of a value that does not have a form. */
export const formProblem = ({ noun, expected }: Form, text: string): Result<never, Problem> =>
  problem(`"${excerpt(text)}" is not ${noun}`, expected);

/** At most so many characters, counted as the admission policy counts them: by code point. */
function excerpt(text: string): string {
  if (text.length <= maxExcerpt) return text;
  const characters = [...text.slice(0, 2 * maxExcerpt + 2)];
  return characters.length <= maxExcerpt ? text : `${characters.slice(0, maxExcerpt).join("")}...`;
}

/** The form of one of a few words, in any case. `former` words still have the form, but are not offered. */
export function enumForm(
  noun: string,
  words: readonly string[],
  { former = [] }: { readonly former?: readonly string[] } = {},
): Form {
  const escaped = [...words, ...former].map((word) => word.replaceAll(/[^a-z0-9-]/g, String.raw`\$&`));
  return { pattern: `(?i)^(${escaped.join("|")})$`, noun, expected: inWords(words) };
}

/** `a, b or c`. */
const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
