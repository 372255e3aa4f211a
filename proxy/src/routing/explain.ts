import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstFailure } from "./condition.ts";
import { startLookup } from "./regex-budget.ts";
import { tablesOf } from "./host-index.ts";
import type { Candidate } from "./lookup-in-turn.ts";
import { withDecodedPath, type HostTable } from "./host-table.ts";
import { pathMatches } from "./path-rule.ts";
import type { OpenPortTable } from "./changing-port-table.ts";

/** The reasons why a request gets its route, for users of `svc-gateway explain`. */
export type Explanation = {
  /** The route that `match` returns. */
  readonly route: CompiledRoute | undefined;
  /** Every host that covers the request's host, in order of precedence. */
  readonly hosts: readonly ExplainedHost[];
};

export type ExplainedHost = {
  readonly table: HostTable;
  /**
   * `serves`: the host has the route. `no-match`: the host was tried, and none of its routes matched. `not-asked`: the
   * host was not tried, because a more specific one had decided already, or because it belongs to another listener.
   */
  readonly outcome: "serves" | "no-match" | "not-asked";
  /** The candidates in the order in which they are tried; empty for a host that was not tried. */
  readonly candidates: readonly ExplainedCandidate[];
};

export type ExplainedCandidate = {
  readonly route: CompiledRoute;
  /** The index of the route in the resource of its host. */
  readonly place: number;
  readonly verdict: Verdict;
};

/** The result for one candidate. A failure names the first condition that does not hold. */
export type Verdict =
  | { readonly kind: "matched" }
  /** The candidate would match, but an earlier one is chosen. */
  | { readonly kind: "shadowed" }
  | {
      readonly kind: "failed";
      readonly on: "path" | "method" | "header" | "query" | "cookie";
      /** Name of the header or parameter, otherwise empty. */
      readonly name: string;
      readonly type: "exact" | "prefix" | "regex";
      /** The value that the route requires. */
      readonly value: string;
    };

/**
 * Explains a lookup. The route is that of `table.match` itself, so an explanation cannot differ from the route that a
 * request gets. The verdicts show why other candidates were skipped.
 */
export function explainMatch(table: OpenPortTable, query: RouteQuery): Explanation {
  const route = table.match(query);
  const hosts: ExplainedHost[] = [];
  let listener: string | undefined;
  let decided = false;
  for (const host of tablesOf(table.hosts, query.host)) {
    if (decided || (listener !== undefined && host.listener !== listener)) {
      hosts.push({ table: host, outcome: "not-asked", candidates: [] });
      continue;
    }
    const serving = host.match(query);
    const outcome = serving === undefined ? "no-match" : "serves";
    hosts.push({ table: host, outcome, candidates: explainCandidates(host, query, serving) });
    decided = serving !== undefined || !host.inherit;
    listener = host.listener;
  }
  return { route, hosts };
}

const explainCandidates = (
  table: HostTable,
  query: RouteQuery,
  serving: CompiledRoute | undefined,
): readonly ExplainedCandidate[] => {
  const compared = table.isDecoded ? withDecodedPath(query) : query;
  return table.candidates.map((candidate) => ({
    route: candidate.route,
    place: candidate.place,
    verdict: candidate.route === serving ? { kind: "matched" } : verdictOf(candidate, compared),
  }));
};

function verdictOf({ path, conditions, route }: Candidate, query: RouteQuery): Verdict {
  startLookup();
  if (!pathMatches(path, query.path)) {
    return { kind: "failed", on: "path", name: "", type: path.type, value: route.pattern };
  }
  const failure = firstFailure(conditions, query);
  if (failure === undefined) return { kind: "shadowed" };
  const { on, name, type, value } = failure;
  return { kind: "failed", on, name, type, value };
}
