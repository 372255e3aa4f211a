import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { isNamespaceName, isObjectName } from "@svc-gateway/common/values/namespaced-name.ts";
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from "jose";
import type { ReviewedToken, ReviewToken, TokenRejection } from "../discovery/bootstrap.ts";
import { parseServiceAccountUser } from "../discovery/principals.ts";
import { type ApiClient, describeApiError } from "../sources/kubernetes/api-client.ts";

/** The issuer of service account tokens and its public keys (Kubernetes, "Service account issuer discovery"). */
type Issuer = { readonly issuer: string; readonly keys: ReturnType<typeof createLocalJWKSet> };

type PodList = {
  readonly items?: readonly {
    readonly metadata: { readonly uid?: string; readonly deletionTimestamp?: string };
    readonly spec?: { readonly serviceAccountName?: string };
    readonly status?: { readonly phase?: string };
  }[];
};

/** The accepted algorithms. All are asymmetric, so that a public key is never used as a shared secret. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"];
/**
 * The shortest time between two reads of the keys: tokens of unknown keys must not each cause a request to the API
 * server.
 */
const refreshMs = 10_000;
/** The time after which the keys are read again, so that withdrawn keys are dropped. */
const keepMs = 300_000;

/**
 * Verifies tokens without a TokenReview, which requires a cluster-wide permission. It uses the keys that the API server
 * publishes to every service account (ClusterRole `system:service-account-issuer-discovery`), and the pod to which the
 * token is bound. A token that is not bound to a pod is rejected, because it could not be withdrawn. See
 * docs/namespaced-installation.md.
 */
export function createTokenVerification(
  client: Pick<ApiClient, "call">,
  { clock = monotonicClock, nowMs = Date.now }: { clock?: Clock; nowMs?: () => number } = {},
): ReviewToken {
  let known:
    { readonly issuer: Promise<Result<Issuer, TokenRejection>>; readonly readMs: number } | undefined;

  const issuer = (maxAgeMs: number): Promise<Result<Issuer, TokenRejection>> => {
    if (known === undefined || clock.nowMs() - known.readMs >= maxAgeMs) {
      // The request has no signal of a caller, because others wait for the same response.
      known = { issuer: readIssuer(client), readMs: clock.nowMs() };
    }
    return known.issuer;
  };

  return async (token, audience, signal) => {
    let claims = await verifyWith(await issuer(keepMs), token, audience, nowMs());
    if (!claims.ok && claims.error.isOfUnknownKey)
      claims = await verifyWith(await issuer(refreshMs), token, audience, nowMs());
    if (!claims.ok) return fail(claims.error.rejection);
    const read = readClaims(claims.value);
    if (!read.ok) return read;
    return confirmPod(client, read.value, signal);
  };
}

async function readIssuer(client: Pick<ApiClient, "call">): Promise<Result<Issuer, TokenRejection>> {
  const [configuration, keys] = await Promise.all([
    client.call<{ readonly issuer?: string }>("/.well-known/openid-configuration"),
    // The endpoint offers only this type: a request for JSON in general is answered 406.
    client.call<JSONWebKeySet>("/openid/v1/jwks", { accept: "application/jwk-set+json" }),
  ]);
  const failed = [configuration, keys].find((answer) => !answer.ok);
  if (failed?.ok === false) {
    const hint =
      failed.error.status === 403
        ? ", expected the ClusterRoleBinding system:service-account-issuer-discovery"
        : "";
    return unreviewed(
      `the keys of service accounts cannot be read: ${describeApiError(failed.error)}${hint}`,
    );
  }
  if (!configuration.ok || !keys.ok || typeof configuration.value.issuer !== "string")
    return unreviewed("the API server names no issuer of service account tokens");
  try {
    return ok({ issuer: configuration.value.issuer, keys: createLocalJWKSet(keys.value) });
  } catch (error) {
    return unreviewed(`the keys of service accounts cannot be used: ${textOf(error)}`);
  }
}

type Unverified = { readonly rejection: TokenRejection; readonly isOfUnknownKey: boolean };

async function verifyWith(
  issuer: Result<Issuer, TokenRejection>,
  token: string,
  audience: string,
  nowMs: number,
): Promise<Result<JWTPayload, Unverified>> {
  if (!issuer.ok) return fail({ rejection: issuer.error, isOfUnknownKey: true });
  try {
    const { payload } = await jwtVerify(token, issuer.value.keys, {
      algorithms,
      issuer: issuer.value.issuer,
      audience,
      requiredClaims: ["exp", "sub"],
      currentDate: new Date(nowMs),
    });
    return ok(payload);
  } catch (error) {
    const isOfUnknownKey =
      error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
    // Messages of jose name a claim or the signature, never the token.
    return fail({ rejection: { reason: "sa_token", message: textOf(error) }, isOfUnknownKey });
  }
}

type Bound = ReviewedToken & { readonly pod: NonNullable<ReviewedToken["pod"]> };

function readClaims({ sub = "", ...claims }: JWTPayload): Result<Bound, TokenRejection> {
  const identity = parseServiceAccountUser(sub);
  if (identity === undefined) {
    const message = "the subject of the token is not a service account";
    return fail({ reason: "invalid_principal", message, principal: sub });
  }
  const { pod } = (claims["kubernetes.io"] ?? {}) as { readonly pod?: { name?: unknown; uid?: unknown } };
  if (typeof pod?.name !== "string" || typeof pod.uid !== "string" || !isObjectName(pod.name)) {
    const message = "the token is bound to no pod, expected one of a projected volume";
    return fail({ reason: "sa_token", message, principal: sub });
  }
  return ok({ ...identity, pod: { name: pod.name, uid: pod.uid } });
}

/**
 * Checks that the pod of a token exists and has not ended: a token is valid only while its pod is, as with a
 * TokenReview.
 */
async function confirmPod(
  client: Pick<ApiClient, "call">,
  owner: Bound,
  signal: AbortSignal,
): Promise<Result<ReviewedToken, TokenRejection>> {
  const { namespace, serviceAccount, pod } = owner;
  const principal = `system:serviceaccount:${namespace}:${serviceAccount}`;
  const listed = isNamespaceName(namespace)
    ? await client.call<PodList>(`/api/v1/namespaces/${namespace}/pods`, {
        query: { fieldSelector: `metadata.name=${pod.name}` },
        signal,
      })
    : fail({ status: 404, reason: "NotFound", message: "no such namespace" });
  if (!listed.ok) {
    // The namespace is not one of proxies: its pods may not be listed.
    const reason = listed.error.status === 403 ? "sa_token" : "token_review_error";
    const message = `the pod of the token cannot be read: ${describeApiError(listed.error)}`;
    return fail({ reason, message, principal });
  }
  const isRunning = (listed.value.items ?? []).some(
    ({ metadata, spec, status }) =>
      metadata.uid === pod.uid &&
      spec?.serviceAccountName === serviceAccount &&
      status?.phase !== "Succeeded" &&
      status?.phase !== "Failed",
  );
  return isRunning
    ? ok(owner)
    : fail({ reason: "sa_token", message: "the pod of the token does not exist or has ended", principal });
}

const unreviewed = (message: string): Result<never, TokenRejection> =>
  fail({ reason: "token_review_error", message });
