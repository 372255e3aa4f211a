/** The maximum length of a compared text. Longer ones are truncated, so that a hostile text costs no more. */
const maxCompared = 80;

/** The minimum length of a prefix that counts as similar; shorter texts are a prefix of too many names. */
const minBeginning = 6;

/**
 * Returns the known name that was probably intended by a wrong one. The wrong name may differ in at most two characters
 * (one in a name of less than five), or in a quarter of a long name, or be a prefix of the known one (`ingressClass`);
 * case is ignored. Returns undefined if no name is that close, and the first of equally close names.
 */
export function mostSimilar(wrong: string, names: Iterable<string>): string | undefined {
  const text = wrong.slice(0, maxCompared).toLowerCase();
  // A short name with two different characters is an unrelated name.
  const maxDistance = text.length < 5 ? 1 : Math.max(2, text.length / 4);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const known = name.toLowerCase();
    const isBeginning = text.length >= minBeginning && known.startsWith(text);
    if (!isBeginning && Math.abs(name.length - text.length) > maxDistance) continue;
    const distance = isBeginning && known !== text ? maxDistance : editDistance(text, known);
    if (distance > maxDistance || distance >= least) continue;
    best = name;
    least = distance;
  }
  return best;
}

/** Returns ` (did you mean X?)`, or an empty text if no name is similar. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  const meant = mostSimilar(wrong, names);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

/**
 * The number of edits between two short texts: an inserted, deleted or replaced character, or two swapped neighbours
 * (Damerau).
 */
function editDistance(left: string, right: string): number {
  let before: readonly number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          isSwapped && column > 1 && row > 1 ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
