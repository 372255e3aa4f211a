/** The filters of a rule, or of one of its backends, as features. See docs/gateway-api.md, "Filters". */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { HTTPRouteRuleFilter as Filter } from "../../api/generated/httproute.ts";
import type { Refusal } from "../condition.ts";
import { quote } from "../text.ts";
import { readCors } from "./cors-filter.ts";
import { readHeaderModifier } from "./header-filters.ts";
import { readRedirect, readRewrite } from "./path-filters.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";

export type ReadFilters = {
  readonly features: RouteFeatures | undefined;
  /** What cannot be honoured: whatever carries it answers 500. */
  readonly unsupported: Refusal | undefined;
  /** What a field of a filter loses although the rest is used. */
  readonly warnings: readonly string[];
};

/**
 * Reads the filters of a rule for one of its matches, since replacing a prefix depends on it. Of two filters of a type
 * the first counts.
 */
export function readFilters(filters: readonly Filter[] | undefined, path: PathMatch): ReadFilters {
  if (filters === undefined || filters.length === 0) return none;
  let features: RouteFeatures = {};
  const warnings: string[] = [];
  const seen = new Set<string>();
  for (const filter of filters) {
    if (seen.has(filter.type)) continue;
    seen.add(filter.type);
    const read = readFilter(filter, path, (message) => warnings.push(message));
    if ("reason" in read) return { features: undefined, unsupported: read, warnings };
    features = { ...features, ...read };
  }
  const isEmpty = Object.values(features).every((value) => value === undefined);
  return { features: isEmpty ? undefined : features, unsupported: undefined, warnings };
}

const none: ReadFilters = { features: undefined, unsupported: undefined, warnings: [] };

function readFilter(
  filter: Filter,
  path: PathMatch,
  warn: (message: string) => void,
): RouteFeatures | Refusal {
  const { type } = filter;
  switch (type) {
    case "RequestHeaderModifier":
      return { "request-headers": readHeaderModifier(filter.requestHeaderModifier, "request", warn) };
    case "ResponseHeaderModifier":
      return { "response-headers": readHeaderModifier(filter.responseHeaderModifier, "response", warn) };
    case "RequestRedirect":
      return { redirect: readRedirect(filter.requestRedirect, path) };
    case "CORS":
      return { cors: readCors(filter.cors) };
    case "URLRewrite":
      return { "rewrite-target": readRewrite(filter.urlRewrite, path) };
    default:
      return { reason: "UnsupportedValue", message: `Filter ${quote(type)} is not supported` };
  }
}
