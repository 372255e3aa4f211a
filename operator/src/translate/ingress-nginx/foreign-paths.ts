/**
 * The places of other namespaces' paths in the list of a host with regular expressions. See docs/ingress-nginx.md,
 * "Other namespaces".
 */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import { literalBeginning, withoutAnchor } from "@svc-gateway/common/values/regex-literal.ts";
import { comparedPath, type PathForm } from "../ingress/path.ts";
import { isBelowChallenges } from "./exempt-paths.ts";
import { compareTexts } from "./regex-path.ts";

/** An entry of the list. */
export type Entry = {
  readonly route: Route;
  /** The path as written, by which the list is sorted. */
  readonly text: string;
  /** The ASCII text, in any case, with which every matching request begins. */
  readonly beginning: string;
};

/**
 * The ASCII part of a literal beginning. Requests for other characters are compared as octets or as escapes, and
 * some of these characters equal ASCII letters if the case does not matter.
 */
export const asciiBeginning = (literal: string): string => /^[\0-\u007f]*/.exec(literal)?.[0] ?? "";

/** Returns the ASCII text with which every request begins that the path of a route matches. */
export function beginningOf({ match: { path } }: Route, form: PathForm): string {
  if (path.type !== "regex") return asciiBeginning(comparedPath(path, form));
  const anchored = withoutAnchor(path.value);
  return anchored === undefined ? "" : asciiBeginning(literalBeginning(anchored).text);
}

/**
 * Inserts paths of other namespaces, sorted by their text, into the list of the owner. Each comes after every entry
 * that could lose requests to it, so that it receives no more than a longer prefix of its Ingress could. With
 * `byText`, the list consists of regular expressions, sorted by their text.
 */
export function insertForeign(
  list: readonly Entry[],
  others: readonly Entry[],
  byText: boolean,
): readonly Entry[] {
  const owned = list.map((entry) => ({ entry, folded: entry.beginning.toLowerCase() }));
  // For each place in the list, the entries that come before the owner's entry there.
  const before: Entry[][] = [...list, undefined].map(() => []);
  for (const one of others) {
    // A slash at the end of a prefix makes no difference.
    const start = one.beginning.replace(/\/+$/, "");
    const folded = start.toLowerCase();
    const last = owned.findLastIndex(
      ({ entry, folded: ofEntry }) =>
        ofEntry.startsWith(folded) ||
        (byText &&
          (compareTexts(entry.text, one.text) <= 0 ||
            (folded.startsWith(ofEntry) && !isBroader(entry.route, start)))),
    );
    before[last + 1]?.push(one);
  }
  return before.flatMap((foreign, place) => [...foreign, ...list.slice(place, place + 1)]);
}

/** A segment that paths are unlikely to name. */
const sample = "/~";

/**
 * Whether the path of a route matches all requests below `start`, and others beside it, as far as samples show. The
 * text before the first special character does not show which requests a regular expression such as `/(a)/.*` matches.
 */
function isBroader({ match: { path } }: Route, start: string): boolean {
  if (path.type !== "regex") return true;
  const compiled = compileRegex(path.value, { whole: path.whole === true });
  if (!compiled.ok) return false;
  const folder = start.slice(0, start.lastIndexOf("/"));
  const samples = [start + sample, start + sample + sample, folder + sample + sample];
  return samples.every((request) => compiled.value.test(request));
}

/**
 * Inserts the challenges of other namespaces before all entries, but after paths of the owner that serve challenges
 * themselves.
 */
export function insertChallenges(
  list: readonly Entry[],
  challenges: readonly Entry[],
  own: ReadonlySet<Entry>,
): readonly Entry[] {
  if (challenges.length === 0) return list;
  const last = list.findLastIndex(
    (entry) => own.has(entry) && [entry.text, entry.beginning.toLowerCase()].some(isBelowChallenges),
  );
  return list.toSpliced(last + 1, 0, ...challenges);
}
