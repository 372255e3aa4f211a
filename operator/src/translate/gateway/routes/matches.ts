/** The matches of HTTPRoute and GRPCRoute rules as the proxy tests them. See docs/gateway-api.md, "Matches". */
import type { PathMatch, RouteMatch, ValueMatch } from "@svc-gateway/common/ir/match.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { GRPCRouteRuleMatch } from "../../../api/generated/grpcroute.ts";
import type { HTTPRouteRuleMatch, HTTPRouteRuleMatchHeader } from "../../../api/generated/httproute.ts";
import type { RegexBudget } from "../../regex-budget.ts";
import { anyPath, rulePath } from "../../ingress/path.ts";
import { quote } from "../../text.ts";
import type { PathRank } from "./precedence.ts";

/** The matches of a rule; without any, one that every request meets (Gateway API, HTTPRouteRule.matches). */
export const matchesOf = <M extends HTTPRouteRuleMatch | GRPCRouteRuleMatch>(
  matches: readonly M[] | undefined,
): readonly (M | Record<string, never>)[] => (matches === undefined || matches.length === 0 ? [{}] : matches);

/** Reads a match of an HTTPRoute. */
export function readHttpMatch(match: HTTPRouteRuleMatch, regexBudget: RegexBudget): Result<RouteMatch> {
  const path = readPath(match.path, regexBudget);
  if (!path.ok) return path;
  const headers = readValues(match.headers, "header", regexBudget);
  if (!headers.ok) return headers;
  const query = readValues(match.queryParams, "query parameter", regexBudget);
  if (!query.ok) return query;
  return ok({
    path: path.value,
    ...(match.method !== undefined && { method: match.method }),
    ...(headers.value.length > 0 && { headers: headers.value }),
    ...(query.value.length > 0 && { query: query.value }),
  });
}

function readPath(path: HTTPRouteRuleMatch["path"], regexBudget: RegexBudget): Result<PathMatch> {
  const { type = "PathPrefix", value = "/" } = path ?? {};
  switch (type) {
    case "Exact":
      return value.startsWith("/") ? ok({ type: "exact", value: rulePath(value) }) : noSlash(value);
    case "PathPrefix":
      if (!value.startsWith("/")) return noSlash(value);
      // A trailing slash makes no difference: "/abc/" is "/abc".
      return ok(value === "/" ? anyPath : { type: "prefix", value: rulePath(value).replace(/\/+$/, "") });
    case "RegularExpression": {
      const checked = regexBudget.compile(value, { whole: true });
      return checked.ok ? ok({ type: "regex", value, whole: true }) : checked;
    }
    default:
      return problem(`path match type ${quote(String(type))} is not supported`);
  }
}

const noSlash = (value: string): Result<never> =>
  problem(`path ${quote(value)} does not start with "/"`, "an absolute path");

/** Reads matches of headers or query parameters. The first entry for a name counts (Gateway API, HTTPHeaderMatch.name). */
function readValues(
  written: readonly HTTPRouteRuleMatchHeader[] | undefined,
  what: string,
  regexBudget: RegexBudget,
): Result<readonly ValueMatch[]> {
  const values = new Map<string, ValueMatch>();
  for (const { name: writtenName, type = "Exact", value } of written ?? []) {
    const name = what === "header" ? writtenName.toLowerCase() : writtenName;
    if (values.has(name)) continue;
    if (type === "RegularExpression") {
      const checked = regexBudget.compile(value, { whole: false });
      if (!checked.ok) return problem(`${what} ${quote(writtenName)}: ${checked.error.message}`);
      values.set(name, { name, type: "regex", value });
    } else if (type === "Exact") values.set(name, { name, type: "exact", value });
    else return problem(`${what} match type ${quote(String(type))} is not supported`);
  }
  return ok([...values.values()]);
}

/**
 * Reads a match of a GRPCRoute. The method of a service is the path of the HTTP request (gRPC over HTTP/2,
 * "Requests").
 */
export function readGrpcMatch(
  { method, headers: written }: GRPCRouteRuleMatch,
  regexBudget: RegexBudget,
): Result<RouteMatch> {
  const path = readMethod(method ?? {}, regexBudget);
  if (!path.ok) return path;
  const headers = readValues(
    written as readonly HTTPRouteRuleMatchHeader[] | undefined,
    "header",
    regexBudget,
  );
  if (!headers.ok) return headers;
  return ok({ path: path.value, ...(headers.value.length > 0 && { headers: headers.value }) });
}

/** The rank of a path match of an HTTPRoute. */
export const httpPathRank = ({ type, value }: PathMatch): PathRank => ({
  type,
  length: value.length,
  method: 0,
});

/**
 * The rank of a match of a GRPCRoute. One that is not a path or a prefix is ranked by its part for the service, then by
 * its part for the method, not by the regular expression that tests both.
 */
export const grpcPathRank = (
  { method: { service = "", method = "" } = {} }: GRPCRouteRuleMatch,
  path: PathMatch,
): PathRank =>
  path.type === "regex"
    ? { type: "prefix", length: "/".length + service.length, method: method.length }
    : httpPathRank(path);

function readMethod(
  { type = "Exact", service = "", method = "" }: NonNullable<GRPCRouteRuleMatch["method"]>,
  regexBudget: RegexBudget,
): Result<PathMatch> {
  if (service === "" && method === "") return ok(anyPath);
  if (type === "RegularExpression") {
    const value = `/${service === "" ? "[^/]+" : `(?:${service})`}/${method === "" ? "[^/]+" : `(?:${method})`}`;
    for (const part of [service, method]) {
      const checked = regexBudget.compile(part, { whole: true });
      if (!checked.ok) return checked;
    }
    return ok({ type: "regex", value, whole: true });
  }
  if (type !== "Exact") return problem(`method match type ${quote(String(type))} is not supported`);
  if (method === "") return ok({ type: "prefix", value: `/${service}` });
  if (service !== "") return ok({ type: "exact", value: `/${service}/${method}` });
  return ok({ type: "regex", value: `/[^/]+/${method.replaceAll(/[^\w]/g, String.raw`\$&`)}`, whole: true });
}
