/** Access to the console: callers that have presented a token once get a session (docs/console.md, "Signing in"). */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "@svc-gateway/common/time/clock.ts";

/** The result of checking a token. */
export type Verdict = "ok" | "refused" | "unavailable";

/** Checks a token that a caller has entered. */
export type CheckToken = (token: string, peer: string) => Verdict | Promise<Verdict>;

export type SignInOptions = {
  readonly check: CheckToken;
  /** How long a session lasts, in milliseconds. */
  readonly sessionMs: number;
  readonly clock: Pick<Clock, "nowMs">;
};

export type SignIn = {
  /** Returns the secret of a new session, for the cookie, or why sign-in is refused. */
  enter(
    token: string,
    peer: string,
  ): Promise<{ readonly session: string } | "refused" | "unavailable" | "too-many">;
  isOpen(session: string): boolean;
  leave(session: string): void;
};

const maxSessions = 64;
/** The maximum number of failures per window, to protect log and API server. Tokens are too long to be guessed. */
const maxFailures = 20;
const failureWindowMs = 60_000;
const sessionBytes = 32;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Creates the sign-in. Sessions are stored by their digest, so that memory contains no valid cookie. */
export function createSignIn({ check, sessionMs, clock }: SignInOptions): SignIn {
  const sessions = new Map<string, number>();
  let failures: number[] = [];
  const keyOf = (session: string): string => digest(session).toString("base64");
  return {
    async enter(token, peer) {
      failures = failures.filter((atMs) => clock.nowMs() - atMs < failureWindowMs);
      if (failures.length >= maxFailures) return "too-many";
      const verdict = await check(token, peer);
      if (verdict !== "ok") {
        if (verdict === "refused") failures.push(clock.nowMs());
        return verdict;
      }
      const session = randomBytes(sessionBytes).toString("base64url");
      sessions.set(keyOf(session), clock.nowMs() + sessionMs);
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
      return { session };
    },
    isOpen(session) {
      const key = keyOf(session);
      const endsMs = sessions.get(key);
      if (endsMs !== undefined && clock.nowMs() < endsMs) return true;
      sessions.delete(key);
      return false;
    },
    leave: (session) => void sessions.delete(keyOf(session)),
  };
}

/** Creates a check that admits callers with a fixed token. */
export const checkFixedToken =
  (expected: () => string | Promise<string>): CheckToken =>
  async (token) =>
    timingSafeEqual(digest(token), digest(await expected())) ? "ok" : "refused";

/** Creates a check for tokens that are valid once. `onNew` is called with each token, immediately with the first. */
export function createOneTimeTokens(onNew: (token: string) => void): CheckToken {
  let current = "";
  const renew = (): void => {
    current = randomBytes(sessionBytes).toString("base64url");
    onNew(current);
  };
  renew();
  return (token) => {
    if (!timingSafeEqual(digest(token), digest(current))) return "refused";
    renew();
    return "ok";
  };
}
