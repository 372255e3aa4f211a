import { endpointsKey, l4Key, type L4Protocol } from "@svc-gateway/common/ir/keys.ts";
import type { L4Port } from "@svc-gateway/common/ir/l4.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { compileL4Table, type L4Environment, type L4Table } from "../l4/l4-table.ts";

/** The new routes of a port; undefined when they were removed. */
export type L4Update = {
  readonly protocol: L4Protocol;
  readonly port: number;
  readonly value: L4Port | undefined;
};

/** The tables by `protocol/port`. */
export type L4Tables = ReadonlyMap<string, L4Table>;

export const l4TableKey = (protocol: L4Protocol, port: number): string => `${protocol}/${port}`;

/** The tables after an update that is not applied yet, and the ids of routes that no table contains any longer. */
export type StagedL4 = { readonly tables: L4Tables; readonly removedRoutes: ReadonlySet<string> };

/**
 * Compiles changed ports without modifying the serving tables; other ports keep their tables. If a route names an
 * endpoint set that does not exist (`has`) or that the update removes (`removed`), the whole update is refused.
 */
export function stageL4(
  tables: L4Tables,
  updates: readonly L4Update[],
  endpoints: { readonly removed: readonly string[]; readonly has: (name: string) => boolean },
  environment: L4Environment,
): Result<StagedL4> {
  const next = new Map(tables);
  const removedRoutes = new Set<string>();
  for (const { protocol, port, value } of updates) {
    const key = l4TableKey(protocol, port);
    for (const id of tables.get(key)?.routeIds ?? []) removedRoutes.add(id);
    if (value === undefined) {
      next.delete(key);
      continue;
    }
    const table = compileL4Table(value, environment);
    for (const name of table.endpoints) {
      if (!endpoints.has(name)) {
        return problem(
          `resource ${l4Key(protocol, port)}: references ${endpointsKey(name)}, which is not in the snapshot`,
        );
      }
    }
    next.set(key, table);
  }
  for (const table of next.values()) {
    for (const id of removedRoutes.size === 0 ? [] : table.routeIds) removedRoutes.delete(id);
    for (const name of endpoints.removed) {
      if (table.endpoints.has(name))
        return problem(`resource ${endpointsKey(name)}: removed while routes reference it`);
    }
  }
  return ok({ tables: updates.length === 0 ? tables : next, removedRoutes });
}
