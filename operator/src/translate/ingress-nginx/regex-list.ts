/**
 * The order of the routes of a host that has regular expressions of ingress-nginx: a single list, in which the
 * longest text comes first. See docs/ingress-nginx.md, "Regular expressions".
 */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { ObjectRef } from "../../api/object.ts";
import { unresolvedBackend } from "../backends/service-port.ts";
import { expressionInPrefix, hostWideNotYours, unservableExpression } from "../diagnostics/nginx-hosts.ts";
import type { Diagnostic } from "../finding.ts";
import type { RouteClaim } from "../ingress/claims.ts";
import { inTiers } from "../tiers.ts";
import type { PathForm } from "../ingress/path.ts";
import { asciiBeginning, beginningOf, insertChallenges, insertForeign, type Entry } from "./foreign-paths.ts";
import { compareTexts, type RegexText } from "./regex-path.ts";

/** A route that serves its path on the host, with its Ingress. */
export type Placed = { readonly claim: RouteClaim; readonly owner: ObjectRef };

type Options = {
  readonly host: string;
  /** The namespace of the oldest Ingress of the host. */
  readonly ownerNamespace: string | undefined;
  /** The form in which proxies compare paths on the host. */
  readonly form: PathForm;
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
  { host, ownerNamespace, form, compare, fallbacks }: Options,
): { readonly routes: readonly Route[]; readonly diagnostics: readonly Diagnostic[] } | undefined {
  const turning = [...placed, ...fallbacks].filter(({ claim }) => claim.asRegex?.turnsHost === true);
  if (turning.length === 0) return undefined;
  const isOwn = ({ owner }: Placed): boolean => owner.namespace === ownerNamespace;
  const isTurned = turning.some(isOwn);
  const foreign = new Set(turning.map(({ owner }) => owner));
  const isForeignChallenge = (one: Placed): boolean => one.claim.isChallenge === true && !isOwn(one);
  const isRegex = (one: Placed): boolean =>
    one.claim.asRegex !== undefined && (isTurned || foreign.has(one.owner)) && !isForeignChallenge(one);
  // The exact paths. Each takes the place of a prefix's form without a trailing slash, in the same namespace.
  const slotOf = (namespace: string | undefined, text: string): string => `${namespace} ${text}`;
  const exact = new Set(
    placed.flatMap(({ claim, owner }) =>
      claim.route.match.path.type === "exact" ? [slotOf(owner.namespace, claim.written)] : [],
    ),
  );
  const entriesOf = (one: Placed): readonly Entry[] =>
    isRegex(one)
      ? regexEntries(one.claim, (text) => exact.has(slotOf(one.owner.namespace, text)))
      : [literalEntry(one.claim.route, form)];
  const base = placed.filter((one) => (isTurned ? isOwn(one) : !isRegex(one)));
  const others = placed.filter((one) => !base.includes(one));
  const list = base.flatMap(entriesOf);
  list.sort((a, b) => (isTurned ? compareTexts(a.text, b.text) : compare(a.route, b.route)));
  const sortedEntries = (some: readonly Placed[]): readonly Entry[] =>
    some.flatMap(entriesOf).sort((a, b) => compareTexts(a.text, b.text));
  const paths = sortedEntries(others.filter((one) => !isForeignChallenge(one)));
  const challenges = sortedEntries(others.filter(isForeignChallenge));
  const inserted = insertChallenges(insertForeign(list, paths, isTurned), challenges, new Set(list));
  return {
    routes: inTiers(inserted, (a, b) => compare(a, b) < 0 && !areAlike(a.match.path, b.match.path)),
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

function regexEntries(
  { route, written, asRegex }: RouteClaim,
  isExact: (text: string) => boolean,
): readonly Entry[] {
  if (asRegex === undefined) return [];
  const { texts } = asRegex;
  return texts
    .filter(({ text }, index) => index === 0 || !isExact(text))
    .map((one) => ({ route: routeOf(route, one), text: written, beginning: asciiBeginning(one.literal) }));
}

function routeOf(route: Route, { pattern, problem }: RegexText): Route {
  const match = { path: { type: "regex", value: pattern } } as const;
  if (problem === undefined) return { ...route, match };
  const { features: _, ...rest } = route;
  return { ...rest, match, backends: [unresolvedBackend("")] };
}

const literalEntry = (route: Route, form: PathForm): Entry => ({
  route,
  text: route.match.path.value,
  beginning: beginningOf(route, form),
});

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
