import type { BackendChoice } from "@svc-gateway/common/ir/route.ts";
import type { BackendRequest, CompiledBackend, PickBackend } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import type { PickRequest } from "../upstream/upstream.ts";
import { createBackendPicker, type WeightedBackend } from "./backend-picker.ts";
import { compileConditions, firstFailure } from "./condition.ts";
import { startLookup } from "./regex-budget.ts";

type Options = {
  readonly choices: readonly BackendChoice[];
  /** Whether sessions of the route stay with the backend that has them. */
  readonly keepsSessions: boolean;
  readonly random: () => number;
};

/**
 * Chooses the backend of a request. If a backend has its session, that backend is chosen. Otherwise the weights of the
 * first choice whose condition it meets decide, or those of the backends if it meets none. A condition that cannot be
 * compiled is met by no request. See docs/features/weights.md, "Choices".
 */
export function createBackendChoice(
  backends: readonly WeightedBackend[],
  { choices, keepsSessions, random }: Options,
): PickBackend {
  const byWeight = createBackendPicker(backends, random);
  const compiled = choices.flatMap(({ when, weights }) => {
    const conditions = compileConditions(when);
    if (!conditions.ok) return [];
    const weighted = backends.map(({ backend }, index) => ({ backend, weight: weights[index] ?? 0 }));
    return [{ conditions: conditions.value, pick: createBackendPicker(weighted, random) }];
  });
  const withSession = (request: PickRequest): CompiledBackend | undefined =>
    backends.find(
      ({ backend }) =>
        backend.kind === "upstream" &&
        backend.unbound !== true &&
        backend.upstream.hasSession?.(request) === true,
    )?.backend;
  return (request) => {
    const kept = keepsSessions ? withSession(request) : undefined;
    if (kept !== undefined || compiled.length === 0) return kept ?? byWeight();
    const query = queryOf(request);
    startLookup();
    for (const { conditions, pick } of compiled) {
      if (firstFailure(conditions, query) === undefined) return pick();
    }
    return byWeight();
  };
}

/** Returns the query of the conditions, which test the header fields that the client sent. */
const queryOf = ({ host, path, query, method, received, authority }: BackendRequest): RouteQuery => ({
  host,
  path,
  query,
  method,
  headers: received,
  authority,
});
