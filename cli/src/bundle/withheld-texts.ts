/** Remembers texts that are withheld in one place, to remove them from logs, messages and events that quote them. */
import { maskText, redacted } from "@svc-gateway/common/telemetry/redaction.ts";

export type WithheldTexts = {
  /** Withholds the parts of a text everywhere. Returns the replacement for the text. */
  withhold(text: string): string;
  /** Excludes the parts of a text from being withheld, because the bundle contains them elsewhere. */
  keep(text: string): void;
  /** Returns free text, such as a message, with the withheld parts replaced. */
  clean(text: string): string;
};

/** The minimum length of a withheld part; shorter ones are likely to be common words. */
const minLength = 6;
/** The maximum number of parts to remember; further ones are withheld only in their own places. */
const maxParts = 500_000;
/** The length up to which a text is divided into parts. */
const maxTextLength = 256 * 1024;

/** A part of a text: the characters between two separators of header fields, URLs, lists, PEM, base64 and JSON. */
const parts = /[^\s"'`,;:=()<>[\]{}|\\/@?&+]+/g;

/** The mark by which messages replace the middle of a long value. */
const clipMark = "...";

export function createWithheldTexts(): WithheldTexts {
  const withheld = new Set<string>();
  const kept = new Set<string>();
  const partsOf = (text: string): readonly string[] =>
    (text.slice(0, maxTextLength).match(parts) ?? []).filter(({ length }) => length >= minLength);

  const isWithheld = (part: string): boolean => {
    if (part.length < minLength || kept.has(part)) return false;
    if (withheld.has(part)) return true;
    if (!part.includes(clipMark)) return false;
    const pieces = part.split(clipMark).filter(({ length }) => length >= minLength);
    return pieces.some((piece) => !kept.has(piece) && [...withheld].some((one) => one.includes(piece)));
  };

  return {
    withhold(text) {
      for (const part of partsOf(text)) if (withheld.size < maxParts) withheld.add(part);
      return `[withheld: ${text.length} characters]`;
    },
    keep(text) {
      for (const part of partsOf(text)) if (kept.size < maxParts) kept.add(part);
    },
    clean: (text) => maskText(text).replace(parts, (part) => (isWithheld(part) ? redacted : part)),
  };
}
