import { status } from "@grpc/grpc-js";
import { aborted } from "@svc-gateway/common/time/aborted.ts";
import { systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { BootstrapRequest, BootstrapResponse } from "@svc-gateway/proto/generated/discovery.js";
import { formatIdentity, type WorkloadIdentity, type WorkloadPod } from "@svc-gateway/proto/identity.ts";
import { tokenAudience, wireVersion } from "@svc-gateway/proto/wire.ts";
import { createBoundedGate } from "./admission.ts";
import type { CaKeeper } from "./ca-keeper.ts";
import { publicKeyOfCsr } from "./csr.ts";
import type { ExpectedPrincipals } from "./principals.ts";

/** The reason why a proxy gets no identity: the values of the label `reason` of `svc_discovery_bootstrap_total`. */
export type BootstrapReason =
  | "wire_version"
  | "sa_token"
  | "token_review_error"
  | "invalid_principal"
  | "ca_not_ready"
  | "malformed_csr"
  | "signing_error"
  | "internal";

export type BootstrapRejection = {
  readonly reason: BootstrapReason;
  /** The message for the caller and the log. */
  readonly message: string;
  /** The caller, if it is known. */
  readonly principal?: string;
};

/** The owner of a token, and its pod if the token is bound to one. */
export type ReviewedToken = WorkloadIdentity & { readonly pod?: WorkloadPod };

export type TokenRejection = {
  /** The token is invalid for the audience, does not belong to a service account, or could not be reviewed. */
  readonly reason: "sa_token" | "invalid_principal" | "token_review_error";
  /** The message for the log of the controller; it is not shown to the caller. */
  readonly message: string;
  readonly principal?: string;
};

/** Identifies the owner of a token by a TokenReview of the API server. The signal ends the wait for a response. */
export type ReviewToken = (
  token: string,
  audience: string,
  signal: AbortSignal,
) => Promise<Result<ReviewedToken, TokenRejection>>;

export type BootstrapOptions = {
  readonly keeper: CaKeeper;
  readonly principals: ExpectedPrincipals;
  readonly reviewToken: ReviewToken;
  readonly svidLifetimeMs: number;
  readonly clock?: Clock;
};

export type IssuedIdentity = { readonly response: BootstrapResponse; readonly principal: ReviewedToken };

/** Status codes of the rejections (docs/discovery.md, "Status codes"). */
export const bootstrapCodes: Readonly<Record<BootstrapReason, status>> = {
  wire_version: status.FAILED_PRECONDITION,
  sa_token: status.UNAUTHENTICATED,
  token_review_error: status.INTERNAL,
  invalid_principal: status.PERMISSION_DENIED,
  ca_not_ready: status.UNAVAILABLE,
  malformed_csr: status.INVALID_ARGUMENT,
  signing_error: status.INTERNAL,
  internal: status.INTERNAL,
};

const maxTokenLength = 16 * 1024;
const reviewTimeoutMs = 10_000;
/** Bounds the load on the API server: additional callers wait, and are rejected if too many wait. */
const reviewLimits = { maxRunning: 16, maxWaiting: 128 };

/**
 * Decides about requests for an identity. The order is cheap checks, the token, the owner of the token, and only then
 * the signing request of a known caller. See docs/discovery.md, "Bootstrap".
 */
export function createBootstrap(
  options: BootstrapOptions,
): (request: Uint8Array) => Promise<Result<IssuedIdentity, BootstrapRejection>> {
  const { keeper, principals, reviewToken, svidLifetimeMs, clock = systemClock } = options;
  const gate = createBoundedGate(reviewLimits);

  const authenticate = async (token: string): Promise<Result<ReviewedToken, BootstrapRejection>> => {
    if (token === "" || token.length > maxTokenLength || !/^[\x21-\x7e]+$/.test(token)) {
      return reject("sa_token", "the token is not valid");
    }
    const review = gate.run(() => reviewInTime(reviewToken, token));
    if (review === undefined) return reject("internal", "too many requests at once");
    const reviewed = await review;
    if (!reviewed.ok) return reviewed;
    return principals.includes(reviewed.value)
      ? reviewed
      : reject(
          "invalid_principal",
          "no proxy runs under this service account",
          formatIdentity(reviewed.value),
        );
  };

  return async (bytes) => {
    const request = decode(bytes);
    if (request === undefined) return reject("malformed_csr", "the message is not a BootstrapRequest");
    if (request.wire_version !== wireVersion) {
      return reject(
        "wire_version",
        `wire version ${request.wire_version} is not supported, only ${wireVersion}`,
      );
    }
    const authority = keeper.current();
    if (authority === undefined || authority.authority.notAfterMs <= clock.nowMs()) {
      return reject("ca_not_ready", "there is no usable certificate authority yet");
    }
    const reviewed = await authenticate(request.sa_token);
    if (!reviewed.ok) return reviewed;
    const principal = formatIdentity(reviewed.value);
    const publicKey = await publicKeyOfCsr(request.csr_pem);
    if (!publicKey.ok) return reject("malformed_csr", publicKey.error.message, principal);
    try {
      const { chainPem, notAfterMs } = await authority.authority.issueSvid({
        publicKey: publicKey.value,
        identity: reviewed.value,
        ...(reviewed.value.pod !== undefined && { pod: reviewed.value.pod }),
        nowMs: clock.nowMs(),
        lifetimeMs: svidLifetimeMs,
      });
      const response = new BootstrapResponse({
        svid_cert_pem: Buffer.from(chainPem),
        trust_bundle_pem: Buffer.from((keeper.current() ?? authority).bundlePem),
        not_after_unix: Math.floor(notAfterMs / 1000),
      });
      return ok({ response, principal: reviewed.value });
    } catch (error) {
      return reject("signing_error", textOf(error), principal);
    }
  };
}

/** Reviews a token within a time limit: a review that fails or hangs must not occupy its place. */
async function reviewInTime(
  reviewToken: ReviewToken,
  token: string,
): Promise<Result<ReviewedToken, TokenRejection>> {
  const signal = AbortSignal.timeout(reviewTimeoutMs);
  const failed = (message: string): Result<never, TokenRejection> =>
    fail({ reason: "token_review_error", message });
  const timeout = aborted(signal).then(() => failed("the review took too long"));
  const review = reviewToken(token, tokenAudience, signal).catch((error: unknown) => failed(String(error)));
  return Promise.race([review, timeout]);
}

function decode(bytes: Uint8Array): BootstrapRequest | undefined {
  try {
    return BootstrapRequest.deserialize(bytes);
  } catch {
    return undefined;
  }
}

const reject = (
  reason: BootstrapReason,
  message: string,
  principal?: string,
): Result<never, BootstrapRejection> =>
  fail({ reason, message, ...(principal !== undefined && { principal }) });
