import { compareAges, compareText } from "../age.ts";
import { sizeKey, type LeftOutObject, type Level, type ObjectSize } from "./object-size.ts";

/** One object of one scope. */
export type Sized = { readonly size: ObjectSize; readonly bytes: readonly [number, number, number] };

/** The step of an object to its next level. */
type Step = { readonly one: Sized; readonly level: Exclude<Level, 0>; readonly saved: number };

type Namespace = { readonly name: string; bytes: number; readonly steps: Step[]; next: number };

/**
 * Chooses the objects that are left out of a scope, so that it takes at most `maxBytes`. Each step takes from
 * the namespace that is the largest at that moment, so that small namespaces lose nothing. Of its objects,
 * those of the largest size go first (sizes between two powers of two count as one), the newest of these first,
 * and parts of an object go before all of it. The choice depends only on sizes and ages, so that every replica
 * leaves out the same objects.
 */
export function chooseLeftOut(
  scope: string,
  objects: readonly Sized[],
  maxBytes: number,
): readonly LeftOutObject[] {
  const namespaces = [...Map.groupBy(objects, ({ size }) => size.object.namespace ?? "")]
    .map(([name, of]) => namespaceOf(name, of))
    .sort((a, b) => compareText(a.name, b.name));
  let total = namespaces.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen = new Map<string, LeftOutObject>();
  while (total > maxBytes) {
    const largest = namespaces.reduce<Namespace | undefined>(
      (most, one) =>
        one.next < one.steps.length && (most === undefined || one.bytes > most.bytes) ? one : most,
      undefined,
    );
    const step = largest?.steps[largest.next];
    if (largest === undefined || step === undefined) break;
    const { one, level, saved } = step;
    largest.next += 1;
    largest.bytes -= saved;
    total -= saved;
    const { object } = one.size;
    chosen.set(sizeKey(object), { object, level, scope, bytes: one.bytes[0] });
  }
  return [...chosen.values()];
}

const levels = [1, 2, 3] as const;

function namespaceOf(name: string, objects: readonly Sized[]): Namespace {
  const steps = levels.flatMap((level) => {
    const before = (one: Sized): number => bytesAt(one, level - 1);
    return objects
      .map((one): Step => ({ one, level, saved: before(one) - bytesAt(one, level) }))
      .filter(({ saved }) => saved > 0)
      .sort(
        (a, b) =>
          classOf(before(b.one)) - classOf(before(a.one)) || compareAges(b.one.size.age, a.one.size.age),
      );
  });
  return { name, bytes: objects.reduce((sum, { bytes }) => sum + bytes[0], 0), steps, next: 0 };
}

/** The bytes of an object at a level, which never takes more than the previous one. */
const bytesAt = ({ bytes }: Sized, level: number): number =>
  level === 3 ? 0 : Math.min(...bytes.slice(0, level + 1));

const classOf = (bytes: number): number => Math.floor(Math.log2(Math.max(1, bytes)));
