/** Findings that can end without a change of their own object. */
import type { Diagnostic } from "../finding.ts";

/**
 * The findings that end when another object is created or becomes ready. This happens a moment later when all
 * objects of an application are applied together, so the log of a controller waits before it reports them.
 */
const transient: ReadonlySet<Diagnostic["reason"]> = new Set([
  "BackendNotFound",
  "GatewayClassNotFound",
  "GatewayPolicyTargetNotFound",
  "IngressClassNotFound",
  "InvalidCACertificateRef",
  "InvalidCertificateRef",
  "KeySetNotFetched",
  "ListenerNotServed",
  "NoEndpoints",
  "NoValidCACertificate",
  "ParentNotFound",
  "PolicyTargetNotFound",
  "ProtectionUnavailable",
  "RefNotPermitted",
  "ReferenceNotFound",
  "ReferenceNotPermitted",
  "SecretNotFound",
  "ServiceNotFound",
  "ServicePortNotFound",
]);

/** Whether a finding can end without a change of its own object. */
export const isTransient = (reason: Diagnostic["reason"]): boolean => transient.has(reason);
