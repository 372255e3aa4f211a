/** Texts that were withheld in one place, so that they are withheld where they are quoted: in logs, messages and events. */
import { maskText, redacted } from "@svc-gateway/common/telemetry/redaction.ts";

export type WithheldTexts = {
  /** Is written in the place of a text. Its parts are withheld everywhere. */
  withhold(text: string): string;
  /** Parts of this text are not withheld, since the bundle holds them elsewhere. */
  keep(text: string): void;
  /** A text that people or programs wrote, without what is withheld. */
  clean(text: string): string;
};

/** Shorter parts are words of any text. */
const minLength = 6;
/** Parts that are remembered; the texts of further ones are withheld in their own places only. */
const maxParts = 500_000;
/** How much of one text is taken apart. */
const maxTextLength = 256 * 1024;

/** What is between two separators of header fields, URLs, lists, PEM, base64 and JSON. */
const parts = /[^\s"'`,;:=()<>[\]{}|\\/@?&+]+/g;

/** What messages write in the place of the middle of a long value. */
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
