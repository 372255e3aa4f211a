/** Longest text that is compared; longer ones are cut, so that a hostile text costs no more. */
const maxCompared = 80;

/**
 * The known name that a wrong one was probably meant for: it differs in at most two characters, or in a quarter of a long
 * name; upper and lower case are alike. Undefined where none is that close. Of equally close names the first is taken.
 */
export function mostSimilar(wrong: string, names: Iterable<string>): string | undefined {
  const text = wrong.slice(0, maxCompared).toLowerCase();
  // Of a name of three characters, two others are another name.
  const maxDistance = text.length < 4 ? 1 : Math.max(2, text.length / 4);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    if (Math.abs(name.length - text.length) > maxDistance) continue;
    const distance = editDistance(text, name.toLowerCase());
    if (distance > maxDistance || distance >= least) continue;
    best = name;
    least = distance;
  }
  return best;
}

/** ` (did you mean X?)`, or nothing where no name is similar. */
export function didYouMean(wrong: string, names: Iterable<string>): string {
  const meant = mostSimilar(wrong, names);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

/** The number of single-character edits between two short texts (Levenshtein). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const substituted = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
