/** Compares the units that serve a path before and after the migration. The report contains only these findings. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { differencesOf, isWithin } from "./difference.ts";
import { knownDifference, type UnitDifference } from "./known-differences.ts";
import type { ServedUnit } from "./served-units.ts";
import { withServicePolicies } from "./service-policies.ts";
import type { Note } from "./written.ts";

/** A unit, and the unit that replaces it. */
export type MovedUnit = {
  readonly before: ServedUnit;
  readonly notes: readonly Note[];
  /** The key of the unit that serves its paths afterwards. */
  readonly after: string;
  /** The keys of the units for requests that meet a condition, in the order of the conditions. */
  readonly conditions?: readonly string[];
  /** The properties whose names differ: from the name afterwards to the name before. */
  readonly renames?: Readonly<Record<string, string>>;
};

/** Returns the distinct differences of all paths of one Ingress. */
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

/** Adds the units for conditions to a unit as its choices. */
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
    // A feature that is absent as a whole, because a part of it could not be written.
    notes.find((one) => one.loss === "lost" && isWithin(one.property, property));
  if (note !== undefined) {
    const { of, loss, text, decidedBy } = note;
    return { property: of ?? note.property, loss, text, ...(decidedBy !== undefined && { decidedBy }) };
  }
  return knownDifference(property, before, after);
}

/** Removes the backends of a path that redirects every request: an Ingress must name one, but it gets no request. */
const sent = (unit: ServedUnit): ServedUnit =>
  unit.route.features?.redirect === undefined
    ? unit
    : { ...unit, route: { ...unit.route, backends: [], affinity: undefined } };

/** The properties of a unit that affect requests, without names and origins. */
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

/**
 * Removes the names of zones and of address lists, which depend on the object that defines them. Blocked addresses are
 * written as denied ones, except with `satisfy: any`, which closes the path.
 */
const withoutNames = ({
  "rate-limit": limit,
  "ip-access-control": addresses,
  retry,
  ...features
}: RouteFeatures): object => ({
  ...features,
  ...(addresses && {
    "ip-access-control": {
      ...addresses,
      name: undefined,
      blocked: undefined,
      deny: [...(addresses.blocked ?? []), ...addresses.deny],
    },
  }),
  ...(retry && {
    retry: { ...retry, grpcCodes: retry.grpcCodes?.length === 0 ? undefined : retry.grpcCodes },
  }),
  ...(limit && { "rate-limit": { ...limit, ...(limit.zone !== undefined && { zone: "of the Ingress" }) } }),
});

function withoutOwner(rules: NonNullable<Route["clients"]>): object {
  const { owner: _, ...rest } = rules;
  return rest;
}
