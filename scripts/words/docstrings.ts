/** The rule for the first word of a docstring (docs/style.md). */

/**
 * First words that leave the subject of a docstring open: question words, pronouns, and the value that a property has when it
 * is missing. "Whether", "How" and "When" name a truth value, a quantity and a time, so they are permitted.
 */
const vagueOpeners = new Set([
  "What",
  "Which",
  "Where",
  "Why",
  "Who",
  "Whose",
  "That",
  "Those",
  "These",
  "It",
  "Its",
  "They",
  "Their",
  "Of",
  "Undefined",
  "Absent",
]);

/** Returns the fault of a docstring with advice, or undefined; line comments may begin with any word. */
export function faultOfDocstring(comment: string): string | undefined {
  const [, first] = /^\/\*\*\s*([A-Z][a-z]+)\b/.exec(comment) ?? [];
  return first !== undefined && vagueOpeners.has(first)
    ? `begins with "${first}"; begin with the noun that it defines, or with a verb in the third person`
    : undefined;
}
