/**
 * The text that a regular expression requires at the beginning of its match, found without compiling it. Accepts RE2
 * syntax, and Perl syntax that RE2 does not have.
 */
export type LiteralBeginning = {
  /** The characters, without escapes; empty if nothing is certain. */
  readonly text: string;
  /** Whether the regular expression consists of this text only. */
  readonly isWhole: boolean;
};

/** Prefix that matches in any case and from the beginning of the text; see `anchoredPattern`. */
const anchor = "(?i)^";

/**
 * Returns the regular expression that matches from the beginning of a text, in any case, open at its end. The anchor
 * applies only to the first of several alternatives: `/a|/b` begins with /a, or contains /b.
 */
export const anchoredPattern = (pattern: string): string => `${anchor}${pattern}`;

/** The pattern after the anchor of `anchoredPattern`; undefined for a pattern without it. */
export const withoutAnchor = (pattern: string): string | undefined =>
  pattern.startsWith(anchor) ? pattern.slice(anchor.length) : undefined;

/** A pattern that matches these characters literally, including those with a meaning in regular expressions. */
export const literalPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Returns the text with which every match of the pattern begins. */
export function literalBeginning(pattern: string): LiteralBeginning {
  if (hasAlternatives(pattern)) return { text: "", isWhole: false };
  let text = "";
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    switch (char) {
      case "\\": {
        const escaped = pattern.charAt(at + 1);
        // Escaped letters and digits are classes, assertions and codes.
        if (escaped === "" || /[0-9A-Za-z]/.test(escaped) || escaped > "\u007e")
          return { text, isWhole: false };
        text += escaped;
        at += 1;
        break;
      }
      case "*":
      case "?":
      case "{":
        // The previous character is optional.
        return { text: text.slice(0, -1), isWhole: false };
      case "+":
      case ".":
      case "[":
      case "(":
      case ")":
      case "^":
      case "$":
        return { text, isWhole: false };
      default:
        text += char;
    }
  }
  return { text, isWhole: true };
}

const piece = /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|[\s\S]/g;

/** Whether a `|` is outside of all groups. */
function hasAlternatives(pattern: string): boolean {
  if (!pattern.includes("|")) return false;
  let depth = 0;
  for (const [part] of pattern.matchAll(piece)) {
    if (part === "(") depth += 1;
    else if (part === ")") depth -= 1;
    else if (part === "|" && depth <= 0) return true;
  }
  return false;
}
