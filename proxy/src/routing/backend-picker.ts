import type { CompiledBackend } from "./compiled-route.ts";

export type WeightedBackend = { readonly weight: number; readonly backend: CompiledBackend };

/** The fractional part of the golden ratio: its multiples spread over [0, 1) more evenly than those of any other number. */
const goldenRatio = 0.618_033_988_749_894_9;

/** The answer when no backend has a weight (Gateway API HTTPRouteRule.backendRefs). */
const noBackend: CompiledBackend = { kind: "status", status: 500 };

/**
 * Chooses backends in proportion to their weights. Choices are not drawn at random: each advances a point by the
 * golden ratio around a circle that the backends share by weight, which keeps every stretch of requests close to the
 * wanted shares. `random` (0 to 1) only sets the starting point. See docs/features/weights.md.
 */
export function createBackendPicker(
  backends: readonly WeightedBackend[],
  random: () => number,
): () => CompiledBackend {
  const weighted = backends.filter(({ weight }) => weight > 0);
  const last = weighted.pop();
  if (last === undefined) return () => noBackend;
  if (weighted.length === 0) return () => last.backend;
  const total = weighted.reduce((sum, { weight }) => sum + weight, last.weight);
  const arcs: { readonly end: number; readonly backend: CompiledBackend }[] = [];
  let sum = 0;
  for (const { weight, backend } of weighted) {
    sum += weight;
    arcs.push({ end: sum / total, backend });
  }
  let point = random();
  return () => {
    point += goldenRatio;
    if (point >= 1) point -= 1;
    for (const { end, backend } of arcs) if (point < end) return backend;
    return last.backend;
  };
}
