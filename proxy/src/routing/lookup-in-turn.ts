import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstFailure, type Condition } from "./condition.ts";
import { pathMatches, type PathRule } from "./path-rule.ts";

/** A route with everything that a request must fulfil to take it. */
export type Candidate = {
  readonly path: PathRule;
  readonly conditions: readonly Condition[];
  readonly route: CompiledRoute;
  /** The index of the route in its resource. */
  readonly place: number;
};

/** Finds the route of a request among the candidates of a host; the caller bounds what a lookup may cost. */
export type HostLookup = { find(query: RouteQuery): CompiledRoute | undefined };

/** Tries each candidate: the definition, which other lookups must equal. */
export class LookupInTurn implements HostLookup {
  private readonly candidates: readonly Candidate[];
  /** Whether some rule looks at the path in lower case. */
  private readonly folds: boolean;

  constructor(candidates: readonly Candidate[]) {
    this.candidates = candidates;
    this.folds = candidates.some(({ path }) => path.type === "regex" && path.start !== undefined);
  }

  find(query: RouteQuery): CompiledRoute | undefined {
    const literal = upperCaseEscapes(query.path);
    const folded = this.folds ? query.path.toLowerCase() : "";
    for (const { path, conditions, route } of this.candidates) {
      if (pathMatches(path, query.path, literal, folded) && firstFailure(conditions, query) === undefined)
        return route;
    }
    return undefined;
  }
}
