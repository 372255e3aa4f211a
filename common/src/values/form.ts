import { problem, type Problem, type Result } from "./result.ts";

/**
 * The syntax of a kind of value. The admission policy of the chart and the parsers both check it, so that a value is
 * rejected with the same text as in an Event.
 */
export type Form = {
  /** A regular expression in RE2 syntax for the whole trimmed value. */
  readonly pattern: string;
  /** The noun for values of this form, such as "a duration". */
  readonly noun: string;
  /** A description of the accepted values. */
  readonly expected: string;
};

/** The maximum number of characters of a rejected value in a message. */
export const maxExcerpt = 80;

/** The failure for a value that does not have the form. */
export const formProblem = ({ noun, expected }: Form, text: string): Result<never, Problem> =>
  problem(`"${excerpt(text)}" is not ${noun}`, expected);

/** Returns at most `maxExcerpt` characters of a text, counted by code point like in the admission policy. */
function excerpt(text: string): string {
  if (text.length <= maxExcerpt) return text;
  const characters = [...text.slice(0, 2 * maxExcerpt + 2)];
  return characters.length <= maxExcerpt ? text : `${characters.slice(0, maxExcerpt).join("")}...`;
}

/** The form of a choice among a few words, in any case. `former` words are still accepted, but not listed. */
export function enumForm(
  noun: string,
  words: readonly string[],
  { former = [] }: { readonly former?: readonly string[] } = {},
): Form {
  const escaped = [...words, ...former].map((word) => word.replaceAll(/[^a-z0-9-]/g, String.raw`\$&`));
  return { pattern: `(?i)^(${escaped.join("|")})$`, noun, expected: inWords(words) };
}

/** Joins words as in `a, b or c`. */
const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
