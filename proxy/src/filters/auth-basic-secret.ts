import type { AuthBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { AuthStore } from "../auth/auth-store.ts";
import { readBasicCredentials } from "../auth/basic-credentials.ts";
import type { UserVerdict } from "../auth/user-list.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { inOrder } from "./in-order.ts";

type OnRequest = NonNullable<Filter["onRequest"]>;

/** The 401 for a realm. The reason is for log and metrics only: the client gets the same answer for all of them. */
const challengeOf = (realm: string, reason: RefusalCode): LocalReply => ({
  status: 401,
  headers: ["WWW-Authenticate", `Basic realm="${realm}"`],
  error: "no valid basic credentials",
  reason,
});
const defaultRealm = "Authentication required";
const unavailable: LocalReply = { status: 503, error: "list of users unavailable" };
const busy: LocalReply = { status: 503, error: "too many passwords to check" };

/**
 * Lets requests pass whose credentials are those of a user in every htpasswd Secret. Credentials that were accepted
 * recently are answered synchronously. See docs/features/auth-basic-secret.md.
 */
export function authBasicSecretFilter(asked: AuthBasicSecret, store: Pick<AuthStore, "users">): Filter {
  const slug = "auth-basic-secret";
  const checks = asked.flatMap(({ htpasswd, realm }) =>
    htpasswd === undefined ? [] : compileCheck(htpasswd, realm, store),
  );
  const checkAll = checks.length < asked.length ? () => unavailable : inOrder(checks);
  if (!asked.some(({ hidesCredentials }) => hidesCredentials)) return { slug, onRequest: checkAll };
  return {
    slug,
    ownedFields: [...credentials],
    onRequest: thenHide(checkAll),
    onAdmitted: hideReceived,
  };
}

function compileCheck(name: string, realm = defaultRealm, store: Pick<AuthStore, "users">): OnRequest {
  const missing = challengeOf(realm, "credentials-missing");
  const replies: { readonly [Verdict in UserVerdict]: LocalReply | undefined } = {
    accepted: undefined,
    "unknown-user": challengeOf(realm, "user-unknown"),
    "wrong-password": challengeOf(realm, "password-wrong"),
    busy,
  };
  const replyTo = (verdict: UserVerdict): LocalReply | undefined => replies[verdict];
  return (exchange) => {
    const users = store.users(name);
    if (users === undefined) return unavailable;
    const given = readBasicCredentials(exchange.headers.joined("authorization"));
    if (given === undefined) return missing;
    const verdict = users.check(given, () => !exchange.finished);
    return typeof verdict === "string" ? replyTo(verdict) : verdict.then(replyTo);
  };
}

const credentials: ReadonlySet<string> = new Set(["authorization"]);

/** Removes the credentials from the upstream request once they are accepted. A refusal leaves them to other checks. */
function thenHide(check: OnRequest): OnRequest {
  return (exchange) => {
    const hide = (reply: LocalReply | undefined): LocalReply | undefined => {
      if (reply === undefined) exchange.headers.remove(credentials);
      return reply;
    };
    const reply = check(exchange);
    return reply instanceof Promise ? reply.then(hide) : hide(reply);
  };
}

/** Removes the credentials that the client sent, and keeps those that the admitting check has set in their place. */
function hideReceived({ headers, received }: Exchange): void {
  if (headers.joined("authorization") === received.joined("authorization")) headers.remove(credentials);
}
