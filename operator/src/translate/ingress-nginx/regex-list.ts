/**
 * The order of the routes of a host that has regular expressions of ingress-nginx: a single list, in which the
 * longest text comes first. See docs/ingress-nginx.md, "Regular expressions".
 */
import { literalBeginning, withoutAnchor } from "@svc-gateway/common/values/regex-literal.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectRef } from "../../api/object.ts";
import { unresolvedBackend } from "../backends/service-port.ts";
import { expressionInPrefix, hostWideNotYours, unservableExpression } from "../diagnostics/nginx-hosts.ts";
import type { Diagnostic } from "../finding.ts";
import type { RouteClaim } from "../ingress/claims.ts";
import { compareTexts, type RegexText } from "./regex-path.ts";

/** A route that serves its path on the host, with its Ingress. */
export type Placed = { readonly claim: RouteClaim; readonly owner: ObjectRef };

/** An entry of the list. `text` is the path as written, by which the list is sorted. */
type Entry = { readonly route: Route; readonly text: string; readonly literal: string };

type Options = {
  readonly host: string;
  /** The namespace of the oldest Ingress of the host. */
  readonly ownerNamespace: string | undefined;
  /** The order of routes without such regular expressions. */
  readonly compare: (a: Route, b: Route) => number;
  /** Default backends of the host. They can be rewritten, which makes the paths of the host regular expressions. */
  readonly fallbacks: readonly Placed[];
};

/**
 * Returns the routes in the order in which they are tried, with tiers that keep it; undefined if no path is a
 * regular expression.
 */
export function listRoutes(
  placed: readonly Placed[],
  { host, ownerNamespace, compare, fallbacks }: Options,
): { readonly routes: readonly Route[]; readonly diagnostics: readonly Diagnostic[] } | undefined {
  const turning = [...placed, ...fallbacks].filter(({ claim }) => claim.asRegex?.turnsHost === true);
  if (turning.length === 0) return undefined;
  const isTurned = turning.some(({ owner }) => owner.namespace === ownerNamespace);
  const foreign = new Set(turning.map(({ owner }) => owner));
  const isRegex = ({ claim, owner }: Placed): boolean =>
    claim.asRegex !== undefined && (isTurned || foreign.has(owner));
  // The exact paths. Each takes the place of a prefix's form without a trailing slash.
  const exact = new Set(
    placed.flatMap(({ claim }) => (claim.route.match.path.type === "exact" ? [claim.written] : [])),
  );
  const entriesOf = (one: Placed): readonly Entry[] =>
    isRegex(one) ? regexEntries(one.claim, exact) : [literalEntry(one.claim.route)];
  const isOwn = ({ owner }: Placed): boolean => owner.namespace === ownerNamespace;
  const base = placed.filter((one) => (isTurned ? isOwn(one) : !isRegex(one)));
  const others = placed.filter((one) => !base.includes(one));
  const list = base.flatMap(entriesOf);
  list.sort((a, b) => (isTurned ? compareTexts(a.text, b.text) : compare(a.route, b.route)));
  const inserted = others.flatMap(entriesOf).sort((a, b) => compareTexts(a.text, b.text));
  return {
    routes: inTiers(insert(list, inserted, isTurned), compare),
    diagnostics: [
      ...placed.filter(isRegex).flatMap(({ claim, owner }) => findingsOf(claim, owner)),
      ...(isTurned ? [] : firstOfEach(turning)).map(({ claim, owner }) =>
        hostWideNotYours({ object: owner, field: claim.field }, host, ownerNamespace ?? ""),
      ),
    ],
  };
}

const firstOfEach = (all: readonly Placed[]): readonly Placed[] => [
  ...new Map(all.toReversed().map((one) => [one.owner, one])).values(),
];

function regexEntries({ route, written, asRegex }: RouteClaim, exact: ReadonlySet<string>): readonly Entry[] {
  if (asRegex === undefined) return [];
  const { texts } = asRegex;
  return texts
    .filter(({ text }, index) => index === 0 || !exact.has(text))
    .map((one) => ({ route: routeOf(route, one), text: written, literal: one.literal }));
}

function routeOf(route: Route, { pattern, problem }: RegexText): Route {
  const match = { path: { type: "regex", value: pattern } } as const;
  if (problem === undefined) return { ...route, match };
  const { features: _, ...rest } = route;
  return { ...rest, match, backends: [unresolvedBackend("")] };
}

const literalEntry = (route: Route): Entry => {
  const { type, value } = route.match.path;
  const anchored = withoutAnchor(value);
  const ofRegex = anchored === undefined ? "" : literalBeginning(anchored).text;
  return { route, text: value, literal: type === "regex" ? ofRegex : value };
};

/**
 * Inserts the regular expressions of other namespaces into the list. Each comes after every entry that could
 * lose requests to it, so that it receives no more than a longer prefix of its Ingress could.
 */
function insert(list: readonly Entry[], others: readonly Entry[], byText: boolean): readonly Entry[] {
  const result = [...list];
  const foreign = new Set(others);
  for (const one of others) {
    const begins = one.literal.toLowerCase();
    const last = result.findLastIndex(
      (entry) =>
        !foreign.has(entry) &&
        (entry.literal.toLowerCase().startsWith(begins) ||
          (byText && compareTexts(entry.text, one.text) <= 0)),
    );
    let at = last + 1;
    for (let next = result[at]; next !== undefined && foreign.has(next); next = result[at]) at += 1;
    result.splice(at, 0, one);
  }
  return result;
}

/**
 * Assigns tiers. A route that would be tried before an earlier one of the list begins another tier
 * (common/src/ir/route.ts).
 */
function inTiers(list: readonly Entry[], compare: (a: Route, b: Route) => number): readonly Route[] {
  let tier = 0;
  let before: Route | undefined;
  return list.map(({ route }) => {
    if (
      before !== undefined &&
      compare(route, before) < 0 &&
      !areAlike(route.match.path, before.match.path)
    ) {
      tier += 1;
    }
    before = route;
    return tier === 0 ? route : { ...route, tier };
  });
}

/** Whether two paths have the same rank, so that their routes are tried in the order of the list. */
const areAlike = (a: PathMatch, b: PathMatch): boolean =>
  a.type === b.type && (a.type !== "prefix" || a.value.length === b.value.length);

function findingsOf({ field, written, asRegex }: RouteClaim, object: ObjectRef): readonly Diagnostic[] {
  const place = { object, field: `${field}.path` };
  return [
    ...(asRegex?.texts ?? []).flatMap(({ text, literal, problem }) =>
      problem === undefined ? [] : [unservableExpression(place, text, problem, literal)],
    ),
    ...(asRegex?.isUnusual === true ? [expressionInPrefix(place, written)] : []),
  ];
}
