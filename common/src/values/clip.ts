/** A text for a message: whole, or the part of it that matters between the marks of what is left out. */
export type Clipped = { readonly text: string; readonly isWhole: boolean };

/** What is left out of a text. */
const mark = "...";

/**
 * At most about `max` characters of a text: all of it, or what is around the first character that hardly any value may hold (white
 * space, control and non-ASCII characters, brackets and the like), since that is mostly what is wrong; else its beginning and
 * its end.
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
