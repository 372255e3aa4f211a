/**
 * Finds regular expressions whose order changes. Those of a host, of all Ingresses, are tried sequentially. Prefixes of
 * such a host are compared as well, because routes of the Gateway API try them first.
 */
import type { MovedUnit } from "./compare.ts";
import { hasAlternatives } from "./gateway/patterns.ts";
import type { UnitDifference } from "./known-differences.ts";
import type { ServedUnit } from "./served-units.ts";

/** A path of a host, with its positions before and afterwards. */
type Tried = {
  readonly unit: ServedUnit;
  readonly before: number;
  readonly after: number;
};

/** Returns the loss of each Ingress (`namespace/name`) with a path whose order relative to another path changes. */
export function findReordered(
  moved: readonly MovedUnit[],
  after: ReadonlyMap<string, ServedUnit>,
): ReadonlyMap<string, readonly UnitDifference[]> {
  const found = new Map<string, UnitDifference[]>();
  const add = (ingress: string, text: string): void => {
    const known = found.get(ingress) ?? [];
    if (known.length === 0) found.set(ingress, [{ property: "order", loss: "lost", text }]);
  };
  const tables = Map.groupBy(moved, ({ before, after: key }) => `${portOf(key)}${before.host}`);
  for (const ofHost of tables.values()) {
    if (!ofHost.some(({ before }) => before.route.match.path.type === "regex")) continue;
    const tried = ofHost.flatMap(({ before, after: key }): Tried[] => {
      const unit = after.get(key);
      return unit === undefined ? [] : [{ unit: before, before: placeOf(before), after: placeOf(unit) }];
    });
    for (const [first, second] of swapped(tried)) {
      const [earlier, later] = [first, second].map(({ unit }) => sayPath(unit));
      const text = `On host ${first.unit.host}, ${later} is tried before ${earlier}, which came first`;
      for (const { unit } of [first, second]) add(unit.ingress, text);
    }
  }
  return found;
}

/** The pairs that were in this order, are in the other order afterwards, and can both match a path. */
function swapped(tried: readonly Tried[]): readonly (readonly [Tried, Tried])[] {
  const inOrder = tried.toSorted((a, b) => a.before - b.before);
  return inOrder.flatMap((first, at) =>
    inOrder
      .slice(at + 1)
      .flatMap((second): (readonly [Tried, Tried])[] =>
        second.after < first.after && meet(first.unit, second.unit) ? [[first, second]] : [],
      ),
  );
}

/** Whether two paths can match the same path: not if their literal beginnings differ. */
function meet(a: ServedUnit, b: ServedUnit): boolean {
  const [one, other] = [beginningOf(a), beginningOf(b)];
  return one.startsWith(other) || other.startsWith(one);
}

/** The literal beginning of a path, in lower case; empty if it has none. */
function beginningOf({ route }: ServedUnit): string {
  const { type, value } = route.match.path;
  if (type !== "regex") return value.toLowerCase();
  const pattern = value.replace(/^\(\?i\)\^?/, "");
  if (hasAlternatives(pattern)) return "";
  const [, literal = "", next = ""] = /^([\w/-]*)(.?)/s.exec(pattern) ?? [];
  // A repeated character can be absent.
  return (/[*?+{]/.test(next) ? literal.slice(0, -1) : literal).toLowerCase();
}

const sayPath = ({ ingress, route }: ServedUnit): string =>
  `${route.match.path.value.replace(/^\(\?i\)\^/, "")} of Ingress ${ingress}`;

/** The port in the key of a rule of a route; empty for Ingresses, which serve alike on all their ports. */
const portOf = (key: string): string => /^\d+ /.exec(key)?.[0] ?? "";

const placeOf = (unit: ServedUnit): number => unit.places[0] ?? 0;
