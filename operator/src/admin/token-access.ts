import { createHash } from "node:crypto";
import { textAnswer, type AdminAnswer } from "@svc-gateway/common/admin/admin-answer.ts";
import type { AdminAccess, AdminCaller } from "@svc-gateway/common/admin/admin-app.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { type ApiClient, type ApiError, describeApiError } from "../sources/kubernetes/api-client.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

export type TokenAccessOptions = {
  readonly client: Pick<ApiClient, "call">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock?: Pick<Clock, "nowMs">;
};

type User = {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};
type TokenReview = { readonly status?: { readonly authenticated?: boolean; readonly user?: User } };
type AccessReview = { readonly status?: { readonly allowed?: boolean } };

type Asked = Pick<AdminCaller, "path" | "verb">;

/** The decision of the API server about a token and a path. */
type Verdict = "allowed" | "forbidden" | "unauthenticated";

const rememberedForMs = 10_000;
const maxRemembered = 256;
const maxReviews = 16;
const maxTokenBytes = 16 * 1024;
const reviewTimeoutMs = 5_000;

const challenge = 'Bearer realm="svc-gateway"';
const unauthenticated: AdminAnswer = { ...textAnswer("unauthorized\n", 401), challenge };
const forbidden = textAnswer("forbidden\n", 403);
const unavailable = textAnswer("the token cannot be reviewed now\n", 503);

/**
 * Admits callers whose bearer token the API server authenticates (TokenReview) and that have permission to `get` the
 * path, or to `put` and `delete` it if it can be changed (SubjectAccessReview with a non-resource URL). If the API
 * server cannot be reached, the answer is 503 (docs/reference/health.md, "Authentication").
 */
export function createTokenAccess(options: TokenAccessOptions): AdminAccess {
  const { client, log, signal, clock = monotonicClock } = options;
  /** Decisions by digest of verb, path and token, so that no token is kept; the oldest first. */
  const remembered = new Map<string, { readonly verdict: Verdict; readonly endsMs: number }>();
  let reviews = 0;

  const post = <T>(path: string, body: object): Promise<Result<T, ApiError>> =>
    client.call<T>(path, {
      method: "POST",
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(reviewTimeoutMs)]),
    });

  const review = async (token: string, { path, verb }: Asked): Promise<Result<Verdict, ApiError>> => {
    const reviewed = await post<TokenReview>("/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token },
    });
    if (!reviewed.ok) return reviewed;
    const { authenticated, user } = reviewed.value.status ?? {};
    if (authenticated !== true || user === undefined) return ok("unauthenticated");
    const { username, uid, groups, extra } = user;
    const asked = await post<AccessReview>("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: username, uid, groups, extra, nonResourceAttributes: { path, verb } },
    });
    if (!asked.ok) return asked;
    return ok(asked.value.status?.allowed === true ? "allowed" : "forbidden");
  };

  const verdictFor = async (token: string, asked: Asked): Promise<Verdict | undefined> => {
    const key = createHash("sha256").update(`${asked.verb}\n${asked.path}\n${token}`).digest("base64");
    const known = remembered.get(key);
    if (known !== undefined && clock.nowMs() < known.endsMs) return known.verdict;
    if (reviews >= maxReviews) return undefined;
    reviews++;
    const reviewed = await review(token, asked)
      .catch((error: unknown) => fail({ status: 0, reason: "Error", message: String(error) }))
      .finally(() => reviews--);
    if (!reviewed.ok) {
      log.warn(
        { error: describeApiError(reviewed.error) },
        "token of an admin request could not be reviewed",
      );
      return undefined;
    }
    remembered.delete(key);
    remembered.set(key, { verdict: reviewed.value, endsMs: clock.nowMs() + rememberedForMs });
    const [oldest] = remembered.keys();
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    return reviewed.value;
  };

  return async ({ authorization, path, verb }) => {
    // RFC 6750 2.1
    const token = /^Bearer +([-A-Za-z0-9._~+/]+=*) *$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || token.length > maxTokenBytes) return unauthenticated;
    switch (await verdictFor(token, { path, verb })) {
      case "allowed":
        return undefined;
      case "forbidden":
        return forbidden;
      case "unauthenticated":
        return unauthenticated;
      case undefined:
        return unavailable;
    }
  };
}
