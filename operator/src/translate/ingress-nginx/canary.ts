/**
 * Reads canaries: Ingresses that receive a part of the requests of another Ingress. See docs/ingress-nginx.md,
 * "Canaries".
 */
import { canary as ownCanary } from "@svc-gateway/common/features/canary.ts";
import type { AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import type { AnnotationReader } from "../features/annotation-reader.ts";
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

const { annotations: ofGateway } = ownCanary;

/** The settings of a canary. Each is that of this gateway if its annotation is set. */
export type CanarySettings = {
  readonly isCanary: boolean;
  readonly weight: number | undefined;
  readonly total: number | undefined;
  /** The name of the header in lower case. */
  readonly header: string | undefined;
  readonly value: string | undefined;
  readonly pattern: string | undefined;
  readonly cookie: string | undefined;
};

/** Reads the settings of an Ingress, whether or not it is a canary. */
export function readCanarySettings(read: NginxReader, own: AnnotationReader): CanarySettings {
  const pick = <T>(annotation: NginxAnnotation<T>, definition: AnnotationDefinition<T>): T | undefined =>
    isOwn(annotation) ? own(definition) : read(annotation);
  const isOwn = (annotation: NginxAnnotation): boolean => read.sourceOf(annotation) === "own";
  const total = pick(canaryWeightTotal, ofGateway.total);
  const header = pick(canaryByHeader, ofGateway.header)?.toLowerCase();
  return {
    isCanary: pick(canary, ofGateway.canary) === true,
    weight: pick(canaryWeight, ofGateway.weight),
    total: isOwn(canaryWeightTotal) ? total : Math.max(100, total ?? 100),
    // nginx compares names of headers with "_" instead of "-".
    header: isOwn(canaryByHeader) ? header : header?.replaceAll("_", "-"),
    value: pick(canaryByHeaderValue, ofGateway.headerValue),
    pattern: pick(canaryByHeaderPattern, ofGateway.headerPattern),
    cookie: pick(canaryByCookie, ofGateway.cookie),
  };
}

/** Returns the rule of a canary; undefined for any other Ingress. */
export function readCanary(read: NginxReader, own: AnnotationReader, ignore: Ignore): CanaryRule | undefined {
  const settings = readCanarySettings(read, own);
  if (!settings.isCanary) return undefined;
  const choices = choicesOf({ ...settings, pattern: usablePattern(settings, ignore) });
  return {
    ...ruleOf(settings.weight ?? 0, settings.total ?? 100, choices),
    isUnbound: read(affinityCanaryBehavior) === "legacy" && read(affinity) !== "cookie",
  };
}

type Ignore = (annotation: Pick<NginxAnnotation, "name">, why: string) => void;

/** Returns the pattern. An invalid one becomes an empty pattern, which matches no value. */
function usablePattern({ header, value, pattern }: CanarySettings, ignore: Ignore): string | undefined {
  const isUsed = header !== undefined && value === undefined;
  if (pattern === undefined || !isUsed) return undefined;
  const compiled = compileRegex(pattern, { whole: false });
  if (compiled.ok) return pattern;
  ignore(canaryByHeaderPattern, `${describeProblem(compiled.error)}, so that no value of the header matches`);
  return "";
}
