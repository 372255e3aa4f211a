/** Compares what served a path before with what serves it afterwards. The report says what is found here and nothing else. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { differencesOf, isWithin } from "./difference.ts";
import { knownDifference, type UnitDifference } from "./known-differences.ts";
import type { ServedUnit } from "./served-units.ts";
import { withServicePolicies } from "./service-policies.ts";
import type { Note } from "./written.ts";

/** Where a unit has gone. */
export type MovedUnit = {
  readonly before: ServedUnit;
  readonly notes: readonly Note[];
  /** The key of the unit that serves its paths. */
  readonly after: string;
  /** The keys of those that serve what meets a condition, in the order of the conditions. */
  readonly conditions?: readonly string[];
  /** Properties that are called otherwise afterwards, with their names before. */
  readonly renames?: Readonly<Record<string, string>>;
};

/** The differences of all paths of one Ingress, each once. */
export function compareUnits(
  moved: readonly MovedUnit[],
  after: ReadonlyMap<string, ServedUnit>,
): readonly UnitDifference[] {
  const found = moved.flatMap((one) =>
    compareUnit(one, withChoices(after.get(one.after), one.conditions ?? [], after)),
  );
  const unique = new Map(found.map((one) => [`${one.property}\n${one.text}`, one]));
  return [...unique.values()];
}

/** A unit with those for conditions as its choices. */
function withChoices(
  unit: ServedUnit | undefined,
  keys: readonly string[],
  after: ReadonlyMap<string, ServedUnit>,
): ServedUnit | undefined {
  if (unit === undefined || keys.length === 0) return unit;
  const choices = keys.flatMap((key) => {
    const one = after.get(key);
    if (one === undefined) return [];
    const { path: _, ...when } = one.route.match;
    const weightOf = (endpoints: string | undefined): number =>
      one.route.backends.find((backend) => backend.endpoints === endpoints)?.weight ?? 0;
    return [{ when, weights: unit.route.backends.map(({ endpoints }) => weightOf(endpoints)) }];
  });
  return { ...unit, route: { ...unit.route, choices } };
}

function compareUnit(
  { before, notes, renames = {} }: MovedUnit,
  after: ServedUnit | undefined,
): readonly UnitDifference[] {
  if (after === undefined) {
    return [
      {
        property: "route",
        loss: "lost",
        text: `Path ${pathText(before)} of host ${before.host} is not served`,
      },
    ];
  }
  const properties = differencesOf(comparable(sent(before)), comparable(sent(after)));
  return properties.map((property) => {
    const found = explain(property, notes, before, after);
    const [was, is] = Object.entries(renames).find(([name]) => isWithin(found.property, name)) ?? ["", ""];
    return { ...found, property: `${is}${found.property.slice(was.length)}` };
  });
}

const pathText = ({ route: { match } }: ServedUnit): string => match.path.value;

function explain(
  property: string,
  notes: readonly Note[],
  before: ServedUnit,
  after: ServedUnit,
): UnitDifference {
  const note =
    notes.find((one) => isWithin(property, one.property)) ??
    // A feature that is absent as a whole, of which a part was not to be had.
    notes.find((one) => one.loss === "lost" && isWithin(one.property, property));
  if (note !== undefined) {
    const { of, loss, text, decidedBy } = note;
    return { property: of ?? note.property, loss, text, ...(decidedBy !== undefined && { decidedBy }) };
  }
  return knownDifference(property, before, after);
}

/** A path that redirects every request sends none to a backend, whichever an Ingress must name for it. */
const sent = (unit: ServedUnit): ServedUnit =>
  unit.route.features?.redirect === undefined
    ? unit
    : { ...unit, route: { ...unit.route, backends: [], affinity: undefined } };

/** What decides about requests; names and origins do not. */
function comparable(unit: ServedUnit): object {
  const { route, ofHost } = unit;
  const { id: _, source: __, clients, tier: ___, features, ...rest } = route;
  return {
    ...withServicePolicies(rest as Route, unit),
    ...(features && { features: withoutNames(features) }),
    ...(clients && { clients: withoutOwner(clients) }),
    host: { ...ofHost, ...(ofHost.clients && { clients: withoutOwner(ofHost.clients) }) },
  };
}

/** The names of zones say who made them, and those of lists of addresses what the log calls them. */
const withoutNames = ({
  "rate-limit": limit,
  "ip-access-control": addresses,
  retry,
  ...features
}: RouteFeatures): object => ({
  ...features,
  ...(addresses && { "ip-access-control": { ...addresses, name: undefined } }),
  ...(retry && {
    retry: { ...retry, grpcCodes: retry.grpcCodes?.length === 0 ? undefined : retry.grpcCodes },
  }),
  ...(limit && { "rate-limit": { ...limit, ...(limit.zone !== undefined && { zone: "of the Ingress" }) } }),
});

function withoutOwner(rules: NonNullable<Route["clients"]>): object {
  const { owner: _, ...rest } = rules;
  return rest;
}
