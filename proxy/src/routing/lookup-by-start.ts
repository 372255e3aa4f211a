import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import { compileRegexSet, type RegexSet } from "@svc-gateway/common/values/regex.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstFailure } from "./condition.ts";
import type { Candidate, HostLookup } from "./lookup-in-turn.ts";
import { pathMatches } from "./path-rule.ts";
import { matchWithinBudget } from "./regex-budget.ts";

/** The smallest set that costs less than testing each of its members. */
const minSetSize = 8;

/** Regexes that are matched in one pass, and their places in the list of candidates. */
type SetOfPlaces = { readonly regexes: RegexSet; readonly places: readonly number[] };

/**
 * Tries only regexes whose literal beginning the path has, and matches the regexes without one in a single pass, so
 * that a hundred regexes cost about as much as a few.
 */
export class LookupByStart implements HostLookup {
  private readonly candidates: readonly Candidate[];
  private readonly byStart = new Map<string, number[]>();
  /** The lengths of literal beginnings, in ascending order. */
  private readonly lengths: readonly number[];
  /** Candidates that can match any path and are not in the set. */
  private readonly always: readonly number[];
  private readonly set: SetOfPlaces | undefined;

  constructor(candidates: readonly Candidate[]) {
    this.candidates = candidates;
    const open: number[] = [];
    for (const [place, { path }] of candidates.entries()) {
      const start = path.type === "regex" ? path.start : undefined;
      if (start === undefined || start.length <= 1) open.push(place);
      else this.byStart.set(start, [...(this.byStart.get(start) ?? []), place]);
    }
    this.lengths = [...new Set([...this.byStart.keys()].map((start) => start.length))].toSorted(
      (a, b) => a - b,
    );
    this.set = setOf(candidates, open);
    const inSet = new Set(this.set?.places);
    this.always = open.filter((place) => !inSet.has(place));
  }

  find(query: RouteQuery): CompiledRoute | undefined {
    const { path } = query;
    const literal = upperCaseEscapes(path);
    const folded = path.toLowerCase();
    for (const place of this.placesFor(path, folded)) {
      const candidate = this.candidates[place];
      if (candidate === undefined) continue;
      const { path: rule, conditions, route } = candidate;
      if (pathMatches(rule, path, literal, folded) && firstFailure(conditions, query) === undefined)
        return route;
    }
    return undefined;
  }

  /** Returns the places of all candidates that can match, in order. */
  private placesFor(path: string, folded: string): readonly number[] {
    const places = [...this.always];
    for (const length of this.lengths) {
      if (length > folded.length) break;
      const found = this.byStart.get(folded.slice(0, length));
      if (found !== undefined) places.push(...found);
    }
    if (this.set !== undefined) {
      for (const member of matchWithinBudget(this.set.regexes, path))
        places.push(this.set.places[member] ?? 0);
    }
    return places.sort((a, b) => a - b);
  }
}

function setOf(candidates: readonly Candidate[], open: readonly number[]): SetOfPlaces | undefined {
  const members = open.flatMap((place) => {
    const path = candidates[place]?.path;
    return path?.type === "regex" && path.regex !== undefined && !path.whole
      ? { place, pattern: path.pattern }
      : [];
  });
  if (members.length < minSetSize) return undefined;
  const regexes = compileRegexSet(members.map(({ pattern }) => pattern));
  return regexes && { regexes, places: members.map(({ place }) => place) };
}
