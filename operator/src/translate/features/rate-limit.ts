import { authBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import { authJwt } from "@svc-gateway/common/features/auth-jwt.ts";
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { extAuth } from "@svc-gateway/common/features/ext-auth.ts";
import { rateLimit, type RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { formatCidr, readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { parseHeaderName } from "@svc-gateway/common/values/header-name.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { rangesLeftOut, resourceFieldIgnored, unusableResource } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

/** Annotations that authenticate clients, and for which a class can have a default. */
const authentications = [
  authBasicSecret.annotations.authBasicSecret,
  authJwt.annotations.authJwt,
  extAuth.annotations.extAuth,
];

/** The limits of each client; undefined for none. See docs/features/rate-limit.md. */
export function translateRateLimit(read: AnnotationReader, context: FeatureContext): RateLimit | undefined {
  const definition = rateLimit.annotations.rateLimit;
  const resource = resolveReference("RateLimit", definition, read, context);
  if (resource === undefined) return undefined;
  const { spec, metadata } = resource;
  const { requestsPerSecond, burst = 0, byHeader, bandwidth } = spec;
  const name = formatNamespacedName(metadata);
  const named = `RateLimit ${name}`;
  const unusable = (why: string, fallback = definition.fallback): undefined => {
    context.report(definition, (place) => unusableResource(place, `${named} ${why}`, fallback));
  };
  const ignoreField = (why: string): void =>
    context.report(definition, (place) => resourceFieldIgnored(place, named, why));
  const further = readRates(spec.rates, ignoreField);
  const limitsOtherwise = further.length > 0 || spec.maxConcurrent !== undefined || bandwidth !== undefined;
  const limitsRate = requestsPerSecond !== undefined && requestsPerSecond > 0;
  if (!limitsRate) {
    if (requestsPerSecond !== undefined && !limitsOtherwise)
      return unusable(`has spec.requestsPerSecond ${requestsPerSecond}, expected more than 0`);
    if (requestsPerSecond !== undefined)
      ignoreField(`spec.requestsPerSecond ${requestsPerSecond} is not more than 0 and limits nothing`);
    if (!limitsOtherwise)
      return unusable("limits nothing, expected spec.requestsPerSecond, rates, maxConcurrent or bandwidth");
  }
  if (burst < 0) ignoreField(`spec.burst ${burst} is negative; 0 applies`);
  const limits = {
    ...(limitsRate && { requestsPerSecond, burst: Math.max(0, burst) }),
    ...(further.length > 0 && { rates: further }),
    ...(spec.maxConcurrent !== undefined && { maxConcurrent: spec.maxConcurrent }),
  };
  const pace = bandwidth && {
    pace: { bytesPerSecond: bandwidth.bytesPerSecond, afterBytes: bandwidth.afterBytes ?? 0 },
  };
  const exempt = readCidrs(spec.exempt ?? []);
  if (exempt.refused.length > 0)
    context.report(definition, (place) => rangesLeftOut(place, `spec.exempt of ${named}`, exempt.refused));
  const header = byHeader === undefined ? undefined : parseHeaderName(byHeader);
  if (header?.ok === false)
    return unusable(
      `has no valid header name in spec.byHeader: ${describeProblem(header.error)}`,
      limitsOtherwise ? "neither requests nor bandwidth are limited" : undefined,
    );
  if (Object.keys(limits).length === 0) return { ...pace };
  const rate: RateLimit = {
    ...limits,
    ...(exempt.cidrs.length > 0 && { exempt: exempt.cidrs.map(formatCidr) }),
    ...(spec.scope === "Namespace" && { zone: `RateLimit ${name}` }),
    ...(spec.status !== undefined && { status: spec.status }),
    ...(spec.concurrentStatus !== undefined && { concurrentStatus: spec.concurrentStatus }),
    ...pace,
  };
  if (header === undefined) return rate;
  if (!authenticates(read, context)) {
    const withoutAuthentication = context.filters === undefined ? "no annotation" : "no filter of the rule";
    context.warnUnlessAuthenticated(
      definition,
      `${named} counts by the header ${header.value}, whose value a client can change with every request, and ${withoutAuthentication} authenticates clients`,
    );
  }
  return { ...rate, byHeader: header.value.toLowerCase() };
}

const maxPeriodMs = 86_400_000;

/** The rates with valid periods. `ignore` receives the reason for each other one. */
const readRates = (
  rates: ObjectOf<"RateLimit">["spec"]["rates"] = [],
  ignore: (why: string) => void,
): NonNullable<RateLimit["rates"]> =>
  rates.flatMap(({ requests, period, capacity = requests }, index) => {
    const periodMs = parseDuration(period);
    if (periodMs.ok && periodMs.value > 0 && periodMs.value <= maxPeriodMs)
      return [{ requests, periodMs: periodMs.value, capacity }];
    const why = periodMs.ok
      ? `${period} is not more than 0 and at most 24h`
      : describeProblem(periodMs.error);
    ignore(`spec.rates[${index}].period: ${why}; this rate does not apply`);
    return [];
  });

const authenticates = (read: AnnotationReader, { filters, hasAnnotation }: FeatureContext): boolean =>
  filters?.authenticate ??
  (authentications.some((one) => read(one) !== undefined) ||
    (hasAnnotation(authTls.annotations.authTlsSecret.name) &&
      (read(authTls.annotations.authTlsVerifyClient) ?? "on") === "on"));
