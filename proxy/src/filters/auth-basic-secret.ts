import type { AuthBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import type { AuthStore } from "../auth/auth-store.ts";
import { readBasicCredentials } from "../auth/basic-credentials.ts";
import type { UserVerdict } from "../auth/user-list.ts";
import type { Filter } from "../exchange/filter.ts";
import { joinedField } from "../message/fields.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { inOrder } from "./in-order.ts";

const challenge: LocalReply = {
  status: 401,
  headers: ["WWW-Authenticate", 'Basic realm="Authentication required"'],
  error: "no valid basic credentials",
};
const unavailable: LocalReply = { status: 503, error: "list of users unavailable" };
const busy: LocalReply = { status: 503, error: "too many passwords to check" };

const replyTo = (verdict: UserVerdict): LocalReply | undefined =>
  verdict === "accepted" ? undefined : verdict === "refused" ? challenge : busy;

/**
 * Lets requests pass whose credentials are those of a user in every htpasswd Secret. Waits only for credentials that were not seen before;
 * `Authorization` goes on upstream. See docs/features/auth-basic-secret.md.
 */
export function authBasicSecretFilter(asked: AuthBasicSecret, store: Pick<AuthStore, "users">): Filter {
  if (asked.some(({ htpasswd }) => htpasswd === undefined)) {
    return { slug: "auth-basic-secret", onRequest: () => unavailable };
  }
  const names = asked.flatMap(({ htpasswd }) => htpasswd ?? []);
  return { slug: "auth-basic-secret", onRequest: inOrder(names.map((name) => compileCheck(name, store))) };
}

function compileCheck(name: string, store: Pick<AuthStore, "users">): NonNullable<Filter["onRequest"]> {
  return (exchange) => {
    const users = store.users(name);
    if (users === undefined) return unavailable;
    const given = readBasicCredentials(joinedField(exchange.headers, "authorization"));
    if (given === undefined) return challenge;
    const verdict = users.check(given, () => !exchange.finished);
    return typeof verdict === "string" ? replyTo(verdict) : verdict.then(replyTo);
  };
}
