/** Converts paths and cookies to matches of HTTPRoutes. */
import type { PathMatch, RouteMatch, ValueMatch } from "@svc-gateway/common/ir/match.ts";
import type { HTTPRouteRuleMatch } from "@svc-gateway/operator/api/generated/httproute.ts";

/**
 * Returns a regular expression that matches the whole of every path in which the given one is found. Groups keep their
 * numbers and contents. See docs/routing.md, "Regular expressions".
 */
export function wholePattern(pattern: string): string {
  const [, rest] = /^\(\?i\)\^([^]*)$/.exec(pattern) ?? [];
  return rest === undefined || hasAlternatives(rest) ? `(?s:.*?)(?:${pattern})(?s:.*)` : `(?i)${rest}(?s:.*)`;
}

/** Whether there is a `|` outside of groups and classes, so that alternatives have no common prefix in the pattern. */
export function hasAlternatives(pattern: string): boolean {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") at++;
    else if (isInClass) isInClass = character !== "]";
    else if (character === "[") isInClass = true;
    else if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (character === "|" && depth === 0) return true;
  }
  return false;
}

/** Converts a path of an Ingress to the form that an HTTPRoute compares. */
export const routePath = (path: PathMatch): PathMatch =>
  path.type === "regex" && path.whole !== true
    ? { type: "regex", value: wholePattern(path.value), whole: true }
    : path;

/** Converts conditions of an Ingress to the form that an HTTPRoute compares: cookies become a header. */
export function routeConditions({
  cookies = [],
  ...others
}: Omit<RouteMatch, "path">): Omit<RouteMatch, "path"> {
  if (cookies.length === 0) return others;
  return { ...others, headers: [...(others.headers ?? []), ...cookies.map(cookieHeader)] };
}

const cookieHeader = ({ name, type, value }: ValueMatch): ValueMatch => ({
  name: "cookie",
  type: "regex",
  value: `(?:^|;\\s*)${escaped(name)}=${type === "exact" ? escaped(value) : value}(?:;|$)`,
});

const escaped = (text: string): string => text.replaceAll(/[^\w-]/g, String.raw`\$&`);

const pathTypes = { exact: "Exact", prefix: "PathPrefix", regex: "RegularExpression" } as const;

/** Writes the match of a rule. */
export const writeMatch = (
  path: PathMatch,
  { headers = [] }: Omit<RouteMatch, "path">,
): HTTPRouteRuleMatch => ({
  path: { type: pathTypes[path.type], value: path.value },
  ...(headers.length > 0 && {
    headers: headers.map(({ name, type, value }) => ({
      name,
      ...(type === "regex" && { type: "RegularExpression" as const }),
      value,
    })),
  }),
});

/** Converts a path that is not a regular expression to an equivalent one, which matches whole paths. */
export function prefixPattern({ type, value }: PathMatch): PathMatch {
  if (type === "regex") return { type, value, whole: true };
  const text = escaped(value.replace(/\/$/, ""));
  const pattern = type === "exact" ? escaped(value) : text === "" ? "(?s:.*)" : `${text}(?s:/.*)?`;
  return { type: "regex", value: pattern, whole: true };
}
