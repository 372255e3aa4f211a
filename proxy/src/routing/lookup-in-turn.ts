import { upperCaseEscapes } from "@svc-gateway/common/values/percent-escapes.ts";
import type { CompiledRoute } from "../exchange/compiled-route.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstFailure, type Condition } from "./condition.ts";
import { pathMatches, type PathRule } from "./path-rule.ts";

/** A route with all requirements that a request must meet to get it. */
export type Candidate = {
  readonly path: PathRule;
  readonly conditions: readonly Condition[];
  readonly route: CompiledRoute;
  /** The index of the route in its resource. */
  readonly place: number;
};

/** Finds the route of a request among the candidates of a host. The caller bounds the cost of a lookup. */
export type HostLookup = { find(query: RouteQuery): CompiledRoute | undefined };

/** Tries each candidate in turn. This is the definition of a lookup, to which the others must be equivalent. */
export class LookupInTurn implements HostLookup {
  private readonly candidates: readonly Candidate[];
  /** Whether some rule compares the path in lower case. */
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
