import type { FieldBlock } from "./field-block.ts";
import { type FieldLines, isLineDropped, type LastEncoded, kindOf, startOf } from "./field-lines.ts";
import { ownText } from "./own-text.ts";

/**
 * Returns a copy of lines for use in many messages, with its own text and with caches for the written and encoded
 * forms.
 */
export const repeatable = (lines: FieldLines | undefined): FieldLines | undefined =>
  lines && {
    ...lines,
    text: ownText(lines.text),
    written: { dropped: 0, withoutKinds: 0, block: undefined, text: "" },
    encoded: { dropped: 0, bytes: undefined },
  };

/** Returns the cache for the encoding of the lines not in the mask `dropped`; undefined if it must not be cached. */
export function encodingOf({ encoded }: FieldLines, dropped: number): LastEncoded | undefined {
  if (encoded !== undefined && encoded.dropped !== dropped) {
    encoded.dropped = dropped;
    encoded.bytes = undefined;
  }
  return encoded;
}

/**
 * Returns the text of the lines not in the mask `dropped` nor of the kinds `withoutKinds`, followed by that of the
 * block.
 */
export function writtenLines(
  lines: FieldLines,
  dropped: number,
  withoutKinds: number,
  block: FieldBlock,
): string {
  const { written } = lines;
  // `Fields` keeps a block as such only if it is well formed.
  if (written === undefined) return textLeft(lines, dropped, withoutKinds) + (block.text ?? "");
  if (written.block === block && written.dropped === dropped && written.withoutKinds === withoutKinds) {
    return written.text;
  }
  written.dropped = dropped;
  written.withoutKinds = withoutKinds;
  written.block = block;
  written.text = ownText(textLeft(lines, dropped, withoutKinds) + (block.text ?? ""));
  return written.text;
}

/** Copies the remaining lines in runs. */
function textLeft({ text, places, kinds }: FieldLines, dropped: number, withoutKinds: number): string {
  const lineCount = places.length - 1;
  const hasSome = (kinds & withoutKinds) !== 0;
  if (dropped === 0 && !hasSome) {
    return text.slice(startOf(places[0] as number), startOf(places[lineCount] as number));
  }
  let copied = "";
  let run = -1;
  for (let i = 0; i < lineCount; i++) {
    const place = places[i] as number;
    const isLeft = !isLineDropped(dropped, i) && !(hasSome && ((withoutKinds >> kindOf(place)) & 1) === 1);
    if (isLeft && run < 0) run = startOf(place);
    if (isLeft || run < 0) continue;
    copied += text.slice(run, startOf(place));
    run = -1;
  }
  return run < 0 ? copied : copied + text.slice(run, startOf(places[lineCount] as number));
}
