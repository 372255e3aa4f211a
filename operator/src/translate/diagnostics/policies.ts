/** Findings about policies of Services and Gateways. */
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { Diagnostic } from "../finding.ts";
import { quoteKind } from "../text.ts";
import { failed, finding, type Place } from "./define-finding.ts";

export const policyValueIgnored = (place: Place, problem: Problem, instead: string): Diagnostic =>
  failed("warning", "PolicyValueIgnored", instead)(place, problem);

/** Reports that the value of a field of a policy is ignored, and what happens instead. */
export type IgnoreValue = (field: string, error: Problem, instead: string) => undefined;

/** The latest version of a policy is not valid. */
export const policyInvalid = (place: Place, message: string): Diagnostic =>
  finding("error", "InvalidObject")(place, message);

/** `winner` is the policy that applies, and `why` a predicate for a sentence about it. */
export const policyConflict = (place: Place, service: string, winner: string, why: string): Diagnostic =>
  finding("warning", "PolicyConflict")(
    place,
    `Service ${service} already uses ${winner}, which ${why}; this policy has no effect on it`,
  );

/** A finding about a policy without which connections to the port are not encrypted. */
export const tlsPolicyTargetNotFound = (place: Place, target: string): Diagnostic =>
  finding("error", "PolicyTargetNotFound")(
    place,
    `${target} does not exist; the policy protects no connections to it`,
  );

/** A target of a BackendTLSPolicy that is not a Service. */
export const tlsPolicyTargetOfOtherKind = (
  place: Place,
  target: { readonly group: string; readonly kind: string },
): Diagnostic =>
  finding("error", "PolicyTargetNotFound")(
    place,
    `Targets ${quoteKind(target)}, expected "Service"; the policy protects no connections to it`,
  );

export const policyTargetNotFound = (place: Place, target: string): Diagnostic =>
  finding("warning", "PolicyTargetNotFound")(
    place,
    `${target} does not exist; the policy has no effect there`,
  );

/** Connections to a port that are encrypted, but to an unverified peer. */
export const policyNotVerified = (place: Place, port: number): Diagnostic =>
  finding("warning", "BackendNotVerified")(
    place,
    `insecureSkipVerify: connections to port ${port} are encrypted, but the certificates of the backends are not verified`,
  );

/** TLS settings of a port that cannot be used. */
export const backendTlsUnusable = (place: Place, port: number, why: string): Diagnostic =>
  finding("error", "BackendTlsUnusable")(place, `${why}; requests to port ${port} are answered 502`);

export const backendTlsTooLarge = (place: Place, maxMiB: number, ownKiB: number): Diagnostic =>
  finding("error", "BackendTlsUnusable")(
    place,
    `The TLS settings of all SvcBackendPolicies take more than ${maxMiB} MiB, and namespace ${place.object.namespace ?? ""} takes the most of it (this policy: ${ownKiB} KiB); requests to its ports with TLS are answered 502`,
  );

/** The only finding that is logged as an error: nothing else shows that requests travel unprotected. */
export const cleartextFallback = (place: Place): Diagnostic =>
  finding("error", "CleartextFallback")(
    place,
    "None of the subject alternative names is usable, so traffic to the backends is NOT encrypted; --backend-tls-strict refuses such connections instead",
  );

/** Another policy already applies to the target of a policy of a Gateway. */
export const gatewayPolicyConflict = (place: Place, message: string): Diagnostic =>
  finding("error", "GatewayPolicyConflict")(place, message);

export const gatewayPolicyWithoutTarget = (place: Place, message: string): Diagnostic =>
  finding("error", "GatewayPolicyTargetNotFound")(place, `${message}; the policy has no effect there`);

export const invalidGatewayPolicy = (place: Place, message: string): Diagnostic =>
  finding("error", "InvalidGatewayPolicy")(place, message);

/**
 * A finding about an object that an invalid policy targets. `parts` are the targeted listeners or ports of it,
 * if these are not all.
 */
export const targetClosed = (place: Place, by: string, parts: string | undefined): Diagnostic =>
  finding("error", "TargetClosed")(
    place,
    `${by}, which targets ${parts === undefined ? `this ${place.object.kind}` : parts}, is not valid; what it protects answers 503 or accepts no connections until it is`,
  );
