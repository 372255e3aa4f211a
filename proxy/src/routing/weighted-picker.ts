export type Weighted<Value> = { readonly weight: number; readonly value: Value };

/**
 * The fractional part of the golden ratio, whose multiples spread over [0, 1) more evenly than those of other numbers.
 */
const goldenRatio = 0.618_033_988_749_894_9;

/**
 * Chooses values in proportion to their weights; `otherwise` if none has a weight. Choices are not random: each
 * advances a point by the golden ratio around a circle that the values share by weight, so that every sequence of
 * choices is close to the wanted shares. `random` (0 to 1) only sets the starting point. See docs/features/weights.md.
 */
export function createWeightedPicker<Value>(
  choices: readonly Weighted<Value>[],
  otherwise: Value,
  random: () => number,
): () => Value {
  const weighted = choices.filter(({ weight }) => weight > 0);
  const last = weighted.pop();
  if (last === undefined) return () => otherwise;
  if (weighted.length === 0) return () => last.value;
  const total = weighted.reduce((sum, { weight }) => sum + weight, last.weight);
  const arcs: { readonly end: number; readonly value: Value }[] = [];
  let sum = 0;
  for (const { weight, value } of weighted) {
    sum += weight;
    arcs.push({ end: sum / total, value });
  }
  let point = random();
  return () => {
    point += goldenRatio;
    if (point >= 1) point -= 1;
    for (const { end, value } of arcs) if (point < end) return value;
    return last.value;
  };
}
