import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstFailure } from "./condition.ts";
import { LookupByStart } from "./lookup-by-start.ts";
import { LookupInTurn, type Candidate, type HostLookup } from "./lookup-in-turn.ts";

/** A candidate with the properties that determine its precedence. */
export type RankedCandidate = {
  readonly candidate: Candidate;
  /** See common/src/ir/route.ts. */
  readonly tier: number;
  readonly fallback: boolean;
};

/**
 * Sorts candidates into the order in which they are tried: tier by tier, first exact paths, then prefixes from the
 * longest to the shortest, then regexes, then default backends. Equal ones keep the order of the resource. See
 * docs/routing.md.
 */
export const inPrecedence = (candidates: readonly RankedCandidate[]): readonly RankedCandidate[] =>
  candidates.toSorted(
    (a, b) => a.tier - b.tier || rankOf(a) - rankOf(b) || prefixLengthOf(b) - prefixLengthOf(a),
  );

const ranks = { exact: 0, prefix: 1, regex: 2, fallback: 3 } as const;

const rankOf = ({ candidate, fallback }: RankedCandidate): number =>
  fallback ? ranks.fallback : ranks[candidate.path.type];

const prefixLengthOf = ({ candidate: { path }, fallback }: RankedCandidate): number =>
  path.type === "prefix" && !fallback ? path.text.length : 0;

/**
 * The most candidates that are tried one by one, since the maps of a host with few routes would be larger than these.
 */
const maxTriedInTurn = 8;

/** Creates the lookup of a host. `ranked` and `candidates` are the same candidates, in order of precedence. */
export function createLookup(
  ranked: readonly RankedCandidate[],
  candidates: readonly Candidate[],
): HostLookup {
  if (candidates.length <= maxTriedInTurn) return new LookupInTurn(candidates);
  const tiers = [...Map.groupBy(ranked, ({ tier }) => tier).values()].map(
    (ofTier) => new LookupByText(ofTier),
  );
  const [only, ...more] = tiers;
  return only !== undefined && more.length === 0 ? only : new LookupByTier(tiers);
}

class LookupByTier implements HostLookup {
  private readonly tiers: readonly HostLookup[];

  constructor(tiers: readonly HostLookup[]) {
    this.tiers = tiers;
  }

  find(query: RouteQuery): CompiledRoute | undefined {
    for (const tier of this.tiers) {
      const route = tier.find(query);
      if (route !== undefined) return route;
    }
    return undefined;
  }
}

const SLASH = 0x2f;

/** Finds exact paths and prefixes of one tier by their text, so that a thousand routes cost no more than ten. */
class LookupByText implements HostLookup {
  private readonly exacts = new Map<string, Candidate[]>();
  private readonly prefixes = new Map<string, Candidate[]>();
  private readonly others: HostLookup;
  /** 1 at the length of each prefix, so that a long request path is cut only where a prefix can end. */
  private readonly lengths: Uint8Array;

  constructor(ranked: readonly RankedCandidate[]) {
    const others: Candidate[] = [];
    for (const { candidate, fallback } of ranked) {
      const { path } = candidate;
      if (fallback || path.type === "regex") others.push(candidate);
      else add(path.type === "exact" ? this.exacts : this.prefixes, path.text, candidate);
    }
    this.others = others.length <= maxTriedInTurn ? new LookupInTurn(others) : new LookupByStart(others);
    this.lengths = prefixLengths(this.prefixes.keys());
  }

  find(query: RouteQuery): CompiledRoute | undefined {
    const path = upperCaseEscapes(query.path);
    const exact = this.exacts.get(path);
    if (exact !== undefined) {
      const route = firstMatch(exact, query);
      if (route !== undefined) return route;
    }
    const { lengths, prefixes } = this;
    for (let end = Math.min(path.length, lengths.length - 1); end >= 0; end--) {
      if (lengths[end] !== 1) continue;
      if (end < path.length && path.charCodeAt(end) !== SLASH) continue;
      const slot = prefixes.get(end === path.length ? path : path.slice(0, end));
      const route = slot === undefined ? undefined : firstMatch(slot, query);
      if (route !== undefined) return route;
    }
    return this.others.find(query);
  }
}

function add(slots: Map<string, Candidate[]>, text: string, candidate: Candidate): void {
  const slot = slots.get(text);
  if (slot === undefined) slots.set(text, [candidate]);
  else slot.push(candidate);
}

function prefixLengths(prefixes: Iterable<string>): Uint8Array {
  const found = [...prefixes].map((prefix) => prefix.length);
  const lengths = new Uint8Array(found.reduce((longest, length) => Math.max(longest, length + 1), 0));
  for (const length of found) lengths[length] = 1;
  return lengths;
}

function firstMatch(slot: readonly Candidate[], query: RouteQuery): CompiledRoute | undefined {
  for (const { conditions, route } of slot) {
    if (firstFailure(conditions, query) === undefined) return route;
  }
  return undefined;
}
