/**
 * Reads canaries: Ingresses that receive a part of the requests of another Ingress. See docs/ingress-nginx.md,
 * "Canaries".
 */
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { choicesOf, ruleOf, type CanaryRule } from "../ingress/canary.ts";
import { affinity, affinityCanaryBehavior } from "./annotations/balancing.ts";
import {
  canary,
  canaryByCookie,
  canaryByHeader,
  canaryByHeaderPattern,
  canaryByHeaderValue,
  canaryWeight,
  canaryWeightTotal,
} from "./annotations/canary.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import type { NginxReader } from "./reader.ts";

/** Returns the rule of a canary; undefined for any other Ingress. */
export function readCanary(
  read: NginxReader,
  ignore: (annotation: Pick<NginxAnnotation, "name">, why: string) => void,
): CanaryRule | undefined {
  if (read(canary) !== true) return undefined;
  const choices = choicesOf({
    // nginx compares names of headers with "_" instead of "-".
    header: read(canaryByHeader)?.toLowerCase().replaceAll("_", "-"),
    value: read(canaryByHeaderValue),
    pattern: readPattern(read, ignore),
    cookie: read(canaryByCookie),
  });
  return {
    ...ruleOf(read(canaryWeight) ?? 0, Math.max(100, read(canaryWeightTotal) ?? 100), choices),
    isUnbound: read(affinityCanaryBehavior) === "legacy" && read(affinity) !== "cookie",
  };
}

/** Returns the pattern. An invalid one becomes an empty pattern, which matches no value. */
function readPattern(read: NginxReader, ignore: Parameters<typeof readCanary>[1]): string | undefined {
  const pattern = read(canaryByHeaderPattern);
  const isUsed = read(canaryByHeader) !== undefined && read(canaryByHeaderValue) === undefined;
  if (pattern === undefined || !isUsed) return undefined;
  const compiled = compileRegex(pattern, { whole: false });
  if (compiled.ok) return pattern;
  ignore(canaryByHeaderPattern, `${describeProblem(compiled.error)}, so that no value of the header matches`);
  return "";
}
