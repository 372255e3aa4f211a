import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ReviewedToken, ReviewToken, TokenRejection } from "../discovery/bootstrap.ts";
import { parseServiceAccountUser } from "../discovery/principals.ts";
import { type ApiClient, describeApiError } from "../sources/kubernetes/api-client.ts";

type TokenReview = {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly error?: string;
    readonly user?: {
      readonly username?: string;
      readonly extra?: { readonly [key: string]: readonly string[] | undefined };
    };
  };
};

const podNameKey = "authentication.kubernetes.io/pod-name";
const podUidKey = "authentication.kubernetes.io/pod-uid";

/** Identifies the owner of a token by a TokenReview of the API server (`authentication.k8s.io/v1`). */
export function createTokenReview(client: ApiClient): ReviewToken {
  return async (token, audience, signal) => {
    const answer = await client.call<TokenReview>("/apis/authentication.k8s.io/v1/tokenreviews", {
      method: "POST",
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token, audiences: [audience] },
      },
      signal,
    });
    if (!answer.ok) {
      return fail({ reason: "token_review_error", message: describeApiError(answer.error) });
    }
    return readReview(answer.value, audience);
  };
}

function readReview({ status }: TokenReview, audience: string): Result<ReviewedToken, TokenRejection> {
  if (status?.authenticated !== true) {
    const detail = status?.error ?? "";
    return fail({ reason: "sa_token", message: detail === "" ? "the token is not valid" : detail });
  }
  const username = status.user?.username ?? "";
  // A server without support for audiences omits them in its response: it has not checked ours.
  if (status.audiences?.includes(audience) !== true) {
    return fail({ reason: "sa_token", message: "the token is for another audience", principal: username });
  }
  const identity = parseServiceAccountUser(username);
  if (identity === undefined) {
    return fail({
      reason: "invalid_principal",
      message: "the user of the token is not a service account",
      principal: username,
    });
  }
  const name = status.user?.extra?.[podNameKey]?.[0];
  const uid = status.user?.extra?.[podUidKey]?.[0] ?? "";
  return ok({ ...identity, ...(name !== undefined && { pod: { name, uid } }) });
}
