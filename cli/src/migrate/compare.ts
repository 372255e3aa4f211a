/** Compares what served a path before with what serves it afterwards. The report says what is found here and nothing else. */
import { isDeepStrictEqual } from "node:util";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { differencesOf, isWithin } from "./difference.ts";
import type { MovedUnit } from "./ingress-parts.ts";
import { knownDifference, type UnitDifference } from "./known-differences.ts";
import type { ServedUnit } from "./served-units.ts";
import type { Note } from "./written.ts";

/** The differences of all paths of one Ingress, each once. */
export function compareUnits(
  moved: readonly MovedUnit[],
  after: ReadonlyMap<string, ServedUnit>,
): readonly UnitDifference[] {
  const found = moved.flatMap((one) => compareUnit(one, after.get(one.after)));
  const inOrder = findReordered(moved, after);
  const unique = new Map([...found, ...inOrder].map((one) => [`${one.property}\n${one.text}`, one]));
  return [...unique.values()];
}

function compareUnit({ before, notes }: MovedUnit, after: ServedUnit | undefined): readonly UnitDifference[] {
  if (after === undefined) {
    return [
      {
        property: "route",
        loss: "lost",
        text: `Path ${pathText(before)} of host ${before.host} is not served`,
      },
    ];
  }
  const properties = differencesOf(comparable(before), comparable(after));
  return properties.map((property) => explain(property, notes, before, after));
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
  if (note !== undefined) return { property: note.property, loss: note.loss, text: note.text };
  return knownDifference(property, before, after);
}

/** What decides about requests; names and origins do not. */
function comparable({ route, ofHost }: ServedUnit): object {
  const { id: _, source: __, clients, tier: ___, backends, ...rest } = route;
  return {
    ...rest,
    backends,
    ...(clients && { clients: withoutOwner(clients) }),
    host: { ...ofHost, ...(ofHost.clients && { clients: withoutOwner(ofHost.clients) }) },
  };
}

function withoutOwner(rules: NonNullable<Route["clients"]>): object {
  const { owner: _, ...rest } = rules;
  return rest;
}

/** Regular expressions are tried one after the other, so their order decides. */
function findReordered(
  moved: readonly MovedUnit[],
  after: ReadonlyMap<string, ServedUnit>,
): readonly UnitDifference[] {
  const isRegex = ({ before }: MovedUnit): boolean => before.route.match.path.type === "regex";
  const byHost = Map.groupBy(moved.filter(isRegex), ({ before }) => before.host);
  return [...byHost].flatMap(([host, ofHost]): UnitDifference[] => {
    const inOrder = ofHost.toSorted((a, b) => placeOf(a.before) - placeOf(b.before));
    const served = inOrder.filter((one) => after.has(one.after));
    const places = served.map((one) => placeOf(after.get(one.after)));
    if (
      isDeepStrictEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
    )
      return [];
    const text = `The regular expressions of host ${host} are tried in another order`;
    return [{ property: "order", loss: "lost", text }];
  });
}

const placeOf = (unit: ServedUnit | undefined): number => unit?.places[0] ?? 0;
