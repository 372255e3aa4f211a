import type { CompiledBackend } from "../exchange/compiled-route.ts";
import { createWeightedPicker } from "./weighted-picker.ts";

export type WeightedBackend = { readonly weight: number; readonly backend: CompiledBackend };

/** The response if no backend has a weight (Gateway API HTTPRouteRule.backendRefs). */
const noBackend: CompiledBackend = { kind: "status", status: 500 };

/** Chooses the backend of each request in proportion to the weights. */
export const createBackendPicker = (
  backends: readonly WeightedBackend[],
  random: () => number,
): (() => CompiledBackend) =>
  createWeightedPicker(
    backends.map(({ weight, backend }) => ({ weight, value: backend })),
    noBackend,
    random,
  );
