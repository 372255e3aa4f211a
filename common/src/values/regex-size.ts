/**
 * Estimates the number of steps to which a pattern in RE2 syntax compiles, without compiling it: expanded repetitions
 * can turn a thousand characters into millions of steps, and compiling those takes seconds. The estimate takes time in
 * proportion to the pattern; for an invalid pattern the number is arbitrary.
 */
export function estimateSteps(pattern: string): number {
  // Sizes of the open groups, innermost last, and the size of the last piece of each.
  const groups = [{ size: 0, last: 0 }];
  for (let at = 0; at < pattern.length; at += 1) {
    const group = groups.at(-1) ?? { size: 0, last: 0 };
    const char = pattern[at];
    if (char === "(") {
      groups.push({ size: 2, last: 0 });
    } else if (char === ")" && groups.length > 1) {
      groups.pop();
      append(groups.at(-1), group.size);
    } else if (char === "{") {
      const repetition = readRepetition(pattern, at);
      if (repetition === undefined) {
        append(group, 1);
      } else {
        group.size += group.last * (repetition.times - 1);
        group.last *= repetition.times;
        at = repetition.end;
      }
    } else {
      append(group, 1);
      at = endOfPiece(pattern, at);
    }
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}

/**
 * The cost of compiling the table of one Unicode class, in steps: `plain` without, and `folded` with the other cases of
 * its letters.
 */
const classSteps = { plain: 60, folded: 160 };
/**
 * The range of code points that is searched for letters with other cases, and the number of code points searched in the
 * time of one step.
 */
const cased = { first: 0x41, last: 0x1e943, perStep: 31 };

/**
 * Estimates the cost of compiling a pattern in addition to its steps, in steps, without compiling it: Unicode classes
 * are tables of hundreds of ranges, and in case-insensitive patterns, the other cases of each character of a range are
 * looked up.
 */
export function estimateTables(pattern: string): number {
  const isFolded = /\(\?[A-Za-z]*i/.test(pattern);
  const classes = pattern.match(/\\[pP]/g)?.length ?? 0;
  const steps = classes * (isFolded ? classSteps.folded : classSteps.plain);
  return isFolded ? steps + foldedRanges(pattern) : steps;
}

/** A range of a class: two characters, or their codes. */
const range = /(\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|[^\\])-(\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|[^\\])/gu;

function foldedRanges(pattern: string): number {
  let characters = 0;
  for (const [, from = "", to = ""] of pattern.matchAll(range)) {
    const first = codePointOf(from);
    const last = codePointOf(to);
    // The range includes all letters with other cases: nothing is looked up.
    if (first <= cased.first && last >= cased.last) continue;
    characters += Math.max(0, Math.min(last, cased.last) - Math.max(first, cased.first));
  }
  return Math.ceil(characters / cased.perStep);
}

function codePointOf(text: string): number {
  const [, hex] = /^\\x\{?([0-9A-Fa-f]+)/.exec(text) ?? [];
  return hex === undefined ? (text.codePointAt(0) ?? 0) : Number.parseInt(hex, 16);
}

function append(group: { size: number; last: number } | undefined, size: number): void {
  if (group === undefined) return;
  group.size += size;
  group.last = size;
}

const repetition = /\{(\d+)(?:,(\d*))?\}/y;

/** Reads `{n}`, `{n,}` or `{n,m}`. An optional copy is a piece and a branch. */
function readRepetition(
  pattern: string,
  at: number,
): { readonly times: number; readonly end: number } | undefined {
  repetition.lastIndex = at;
  const match = repetition.exec(pattern);
  if (match === null) return undefined;
  const min = Number(match[1]);
  const max = match[2] === undefined ? min : match[2] === "" ? min + 1 : Number(match[2]);
  return { times: min + 2 * Math.max(0, max - min), end: at + match[0].length - 1 };
}

const escape = /\\(?:[pPx]\{[^}]*\}|Q(?:[^\\]|\\(?!E))*|.)/sy;
const characterClass = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/sy;

/** The index of the last character of the piece at an index: an escape, a class or a character. */
function endOfPiece(pattern: string, at: number): number {
  const form = pattern[at] === "\\" ? escape : pattern[at] === "[" ? characterClass : undefined;
  if (form === undefined) return at;
  form.lastIndex = at;
  const match = form.exec(pattern);
  return match === null ? at : at + match[0].length - 1;
}
