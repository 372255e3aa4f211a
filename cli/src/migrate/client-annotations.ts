/** Writes rules for client certificates as annotations of an Ingress. See docs/features/auth-tls.md. */
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { isWritable, type ClientPlan } from "./client-certificates.ts";

/** The annotations by names without prefix; empty if nothing is required or can be written. */
export function clientAnnotations(plan: ClientPlan | undefined): Readonly<Record<string, string>> {
  if (plan?.problem !== undefined || plan?.secret === undefined) return {};
  const { maxIntermediates = 0, forward, byRequest } = plan.rules;
  const { mode = "on", subject, errorPage } = byRequest ?? {};
  return {
    "auth-tls-secret": formatNamespacedName(plan.secret.metadata),
    "auth-tls-verify-client": mode,
    // The depth includes the client's own certificate.
    "auth-tls-verify-depth": String(maxIntermediates + 1),
    ...(forward === true && { "auth-tls-pass-certificate-to-upstream": "true" }),
    ...(subject !== undefined && { "auth-tls-match-subject": subject }),
    ...(errorPage !== undefined && isWritable(errorPage) && { "auth-tls-error-page": errorPage }),
  };
}
