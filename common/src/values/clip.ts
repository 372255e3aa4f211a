/** A text for a message: complete, or its relevant part with marks in place of omitted text. */
export type Clipped = { readonly text: string; readonly isWhole: boolean };

/** The mark for omitted text. */
const mark = "...";

/**
 * Returns at most about `max` characters of a text: all of it, or the part around the first character that is unusual
 * in values (white space, control and non-ASCII characters, brackets and the like), since that is the most likely
 * mistake. Without such a character, returns the beginning and the end of the text.
 */
export function clipText(text: string, max: number): Clipped {
  if (text.length <= max) return { text, isWhole: true };
  const fault = text.search(oddCharacter);
  const isWhole = false;
  if (fault === -1) {
    const tail = Math.floor(max / 3);
    return { text: `${text.slice(0, max - tail)}${mark}${text.slice(-tail)}`, isWhole };
  }
  const start = Math.max(0, Math.min(fault - Math.floor(max / 2), text.length - max));
  const end = start + max;
  return {
    text: `${start === 0 ? "" : mark}${text.slice(start, end)}${end >= text.length ? "" : mark}`,
    isWhole,
  };
}

/** The part of a value that messages show. */
export const shown = (text: string): string => clipText(text, 80).text;

const oddCharacter = /[^!-~]|["<>[\\\]^`{|}]/;
