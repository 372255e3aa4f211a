/** Paths as regular expressions, and new paths upstream. See docs/ingress-nginx.md, "Regular expressions". */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { anchoredPattern } from "@svc-gateway/common/values/regex-literal.ts";
import { RegexBudget } from "../../regex-budget.ts";
import { rewriteTarget, useRegex, xForwardedPrefix } from "../annotations/routing.ts";
import { readRegexPath } from "../regex-path.ts";
import type { Group, NginxPath } from "./group.ts";

export const routing: Group = (read, { ignore, noEffect }) => {
  const target = readTemplate(read(rewriteTarget), (why) => ignore(rewriteTarget, why));
  const prefix = readTemplate(read(xForwardedPrefix), (why) => ignore(xForwardedPrefix, why));
  const isRegex = read(useRegex) === true;
  const budget = new RegexBudget();
  const rewrites = ({ written }: NginxPath): boolean => target !== undefined && target !== written;
  if (prefix !== undefined && target === undefined) {
    noEffect(xForwardedPrefix, "has no effect without rewrite-target");
  }
  return {
    asRegex: (path) => readRegexPath(path, isRegex || rewrites(path), budget),
    ofPath: (path) =>
      target !== undefined && rewrites(path) ? rewriteOf(path.written, target, prefix) : undefined,
  };
};

/**
 * Converts references to groups, which have one digit: `$12` is group 1 followed by a 2. Any other dollar sign
 * is reported, and the result is undefined.
 */
function readTemplate(value: string | undefined, report: (why: string) => void): string | undefined {
  if (value === undefined) return undefined;
  if (/\$(?![1-9])/.test(value)) {
    report('contains "$" without the number of a group from 1 to 9, expected such as "/$2"');
    return undefined;
  }
  return value.replaceAll(/\$([1-9])(?=[0-9])/g, "${$1}");
}

const hasGroups = (text: string | undefined): boolean => text?.includes("$") === true;

function rewriteOf(written: string, target: string, forwardedPrefix: string | undefined): RouteFeatures {
  const path =
    hasGroups(target) || hasGroups(forwardedPrefix)
      ? ({
          matchPath: "decoded",
          pattern: anchoredPattern(written),
          type: "expand",
          value: target,
        } as const)
      : ({ type: "full", value: target.startsWith("/") ? target : `/${target}` } as const);
  return { "rewrite-target": { ...(forwardedPrefix !== undefined && { forwardedPrefix }), path } };
}
