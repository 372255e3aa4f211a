/** The versions of the site: the work tree, and each release from its tag (docs/releasing.md, "The site"). */

export type Version = {
  /** The name in the version switch. */
  readonly name: string;
  /** The path below the base of the site, with a slash at its end; empty for the work tree. */
  readonly folder: string;
  readonly tag?: string;
};

export const unreleased = "Unreleased";

/**
 * The work tree, then the releases from the newest to the oldest. Tags other than `vMAJOR.MINOR.PATCH[-PRERELEASE]`
 * are ignored.
 */
export function versionsOf(tags: readonly string[]): readonly Version[] {
  const releases = tags
    .filter((tag) => /^v\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(tag))
    .toSorted(comparePrecedence)
    .toReversed()
    .map((tag) => ({ name: tag.slice(1), folder: `${tag}/`, tag }));
  return [{ name: unreleased, folder: "" }, ...releases];
}

/** Compares by the precedence of Semantic Versioning 2.0.0 (section 11), in which a prerelease precedes its release. */
function comparePrecedence(one: string, other: string): number {
  const [core = "", prerelease] = partsOf(one);
  const [otherCore = "", otherPrerelease] = partsOf(other);
  const byCore = compareNumbers(core, otherCore);
  if (byCore !== 0 || prerelease === otherPrerelease) return byCore;
  if (prerelease === undefined) return 1;
  if (otherPrerelease === undefined) return -1;
  return compareNumbers(prerelease, otherPrerelease);
}

const partsOf = (tag: string): readonly string[] => /^v([\d.]+)(?:-(.*))?$/.exec(tag)?.slice(1) ?? [tag];

const compareNumbers = (one: string, other: string): number =>
  one.localeCompare(other, "en", { numeric: true });
