/** The versions of the site: the work tree, and each release as its tag has it (docs/releasing.md, "The site"). */

export type Version = {
  /** As the switch shows it. */
  readonly name: string;
  /** Below the base of the site, with a slash at its end; empty for the work tree. */
  readonly folder: string;
  readonly tag?: string;
};

export const unreleased = "Unreleased";

/** The work tree first, then the releases, the newest first. Other tags than `vMAJOR.MINOR.PATCH[-PRERELEASE]` are none. */
export function versionsOf(tags: readonly string[]): readonly Version[] {
  const releases = tags
    .filter((tag) => /^v\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(tag))
    .toSorted(comparePrecedence)
    .toReversed()
    .map((tag) => ({ name: tag.slice(1), folder: `${tag}/`, tag }));
  return [{ name: unreleased, folder: "" }, ...releases];
}

/** The order of Semantic Versioning 2.0.0 (section 11), where a prerelease comes before its release. */
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
