import { authBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import { authJwt } from "@svc-gateway/common/features/auth-jwt.ts";
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { extAuth } from "@svc-gateway/common/features/ext-auth.ts";
import { rateLimit, type RateLimit } from "@svc-gateway/common/features/rate-limit.ts";
import { parseHeaderName } from "@svc-gateway/common/values/header-name.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { resourceFieldIgnored, unusableResource } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

/** Annotations that make clients prove who they are, and for which a class may hold a default. */
const authentications = [
  authBasicSecret.annotations.authBasicSecret,
  authJwt.annotations.authJwt,
  extAuth.annotations.extAuth,
];

/** The request rate of each client; absent: any. See docs/features/rate-limit.md. */
export function translateRateLimit(read: AnnotationReader, context: FeatureContext): RateLimit | undefined {
  const definition = rateLimit.annotations.rateLimit;
  const resource = resolveReference("RateLimit", definition, read, context);
  if (resource === undefined) return undefined;
  const { requestsPerSecond, burst = 0, byHeader } = resource.spec;
  const named = `RateLimit ${formatNamespacedName(resource.metadata)}`;
  const unusable = (why: string): undefined => {
    context.report(definition, (place) => unusableResource(place, `${named} ${why}`, definition.fallback));
  };
  if (!(requestsPerSecond > 0))
    return unusable(`has spec.requestsPerSecond ${requestsPerSecond}, expected more than 0`);
  if (burst < 0) {
    context.report(definition, (place) =>
      resourceFieldIgnored(place, named, `spec.burst ${burst} is negative; 0 applies`),
    );
  }
  const rate = { requestsPerSecond, burst: Math.max(0, burst) };
  if (byHeader === undefined) return rate;
  const header = parseHeaderName(byHeader);
  if (!header.ok)
    return unusable(`has no valid header name in spec.byHeader: ${describeProblem(header.error)}`);
  if (!authenticates(read, context)) {
    const withoutAuthentication = context.filters === undefined ? "no annotation" : "no filter of the rule";
    context.warnUnlessAuthenticated(
      definition,
      `${named} counts by the header ${header.value}, whose value a client can change with every request, and ${withoutAuthentication} authenticates clients`,
    );
  }
  return { ...rate, byHeader: header.value.toLowerCase() };
}

const authenticates = (read: AnnotationReader, { filters, hasAnnotation }: FeatureContext): boolean =>
  filters?.authenticate ??
  (authentications.some((one) => read(one) !== undefined) ||
    hasAnnotation(authTls.annotations.authTlsSecret.name));
