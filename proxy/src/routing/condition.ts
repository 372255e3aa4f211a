import type { RouteMatch, ValueMatch } from "@svc-gateway/common/ir/match.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { cookieValue } from "../message/cookies.ts";
import { testWithinBudget } from "./regex-budget.ts";
import { headerValue, queryValue } from "./request-values.ts";

/** A property other than the path that a request must have to match. Built once; a test allocates nothing. */
export type Condition = {
  readonly on: "method" | "header" | "query" | "cookie";
  /** Name of the header or parameter; empty for the method. */
  readonly name: string;
  readonly type: "exact" | "regex";
  /** The value or regex that the request's value must match. */
  readonly value: string;
  test(query: RouteQuery): boolean;
};

const none = ok<readonly Condition[]>([]);

/** Compiles the conditions of a match, in the order of their tests: method, headers, query parameters, cookies. */
export function compileConditions(match: Omit<RouteMatch, "path">): Result<readonly Condition[]> {
  const { method, headers, query, cookies } = match;
  if (method === undefined && headers === undefined && query === undefined && cookies === undefined)
    return none;
  const conditions: Condition[] = [];
  if (method !== undefined) conditions.push(methodCondition(method));
  for (const [on, values] of [
    ["header", headers],
    ["query", query],
    ["cookie", cookies],
  ] as const) {
    for (const value of values ?? []) {
      const condition = valueCondition(on, value);
      if (!condition.ok) return condition;
      conditions.push(condition.value);
    }
  }
  return ok(conditions);
}

/** Returns the first condition that does not hold; undefined if all do. */
export function firstFailure(conditions: readonly Condition[], query: RouteQuery): Condition | undefined {
  // Most routes have no conditions, and this runs for each candidate.
  for (let i = 0; i < conditions.length; i++) {
    const condition = conditions[i] as Condition;
    if (!condition.test(query)) return condition;
  }
  return undefined;
}

/** Compiles the condition of a method, which is case-sensitive (RFC 9110 9.1). */
const methodCondition = (method: string): Condition => ({
  on: "method",
  name: "",
  type: "exact",
  value: method,
  test: (query) => query.method === method,
});

const readers: {
  readonly [On in "header" | "query" | "cookie"]: (name: string) => (query: RouteQuery) => string | undefined;
} = {
  header: (name) => (name === "host" ? hostValue : (query) => headerValue(query.headers, name)),
  query: (name) => (query) => queryValue(query.query, name),
  cookie: (name) => (query) => cookieValue(query.headers, name),
};

/** The value of `Host`, which requests over HTTP/2 have as `:authority` (RFC 9113 8.3.1). */
const hostValue = ({ headers, authority }: RouteQuery): string | undefined =>
  headerValue(headers, "host") ?? (authority === "" ? undefined : authority);

/**
 * Compiles the condition of a header, parameter or cookie. An absent one does not match, even if the regex accepts the
 * empty text.
 */
function valueCondition(on: "header" | "query" | "cookie", match: ValueMatch): Result<Condition> {
  const { type, value } = match;
  const name = on === "header" ? match.name.toLowerCase() : match.name;
  const read = readers[on](name);
  if (type === "exact") {
    return ok({ on, name, type, value, test: (query) => read(query) === value });
  }
  const regex = compileRegex(value, { whole: false });
  if (!regex.ok) return problem(`${on} ${name}: ${regex.error.message}`, "RE2 syntax");
  return ok({
    on,
    name,
    type,
    value,
    test(query) {
      const actual = read(query);
      return actual !== undefined && testWithinBudget(regex.value, actual);
    },
  });
}
