/**
 * A toy replacement of oauth2-proxy, for the example of a login: every user is alice, and the session is not signed.
 *
 * - `/oauth2/auth` answers 202 with the user of the session, or 401;
 * - `/oauth2/start?rd=/a` is the sign-in page: it starts a session and redirects the browser back to that path.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

/** A response of the backend to any request. */
export type Answer = {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: string;
};

const session = "session=alice";

/** Answers requests for the paths above; undefined for other paths. */
export function answerLogin(name: string, url: URL, headers: IncomingHttpHeaders): Answer | undefined {
  if (url.pathname === "/oauth2/auth") {
    const isKnown = (headers.cookie ?? "").split("; ").includes(session);
    return isKnown
      ? { status: 202, headers: { "x-auth-request-user": "alice" }, body: "" }
      : { status: 401, body: "" };
  }
  if (url.pathname !== "/oauth2/start") return undefined;
  const back = URL.parse(url.searchParams.get("rd") ?? "/", "http://backend")?.pathname ?? "/";
  return {
    status: 302,
    headers: { "set-cookie": `${session}; Path=/; HttpOnly`, location: back },
    body: `${name} has signed alice in\n`,
  };
}
