import type { LocalReply } from "../message/local-reply.ts";
import type { BodyAbortReason } from "../message/message.ts";

const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/**
 * The reply to TRACE and CONNECT, which no backend gets. Checked before Host, since the target of CONNECT is not a
 * path.
 */
export const methodNotAllowed: LocalReply = {
  status: 405,
  headers: ["Allow", allowedMethods],
  error: "method not allowed",
  close: true,
};

export const malformed = {
  address: { status: 400, error: "malformed host or target", close: true },
  target: { status: 400, error: "malformed path", close: true },
} as const satisfies Readonly<Record<string, LocalReply>>;

export const noRoute: LocalReply = { status: 404, error: "no route" };

/**
 * The reply if the route lookup exceeded its budget, so that the route is unknown (docs/routing.md, "Regular
 * expressions").
 */
export const tooLongToMatch: LocalReply = { status: 414, error: "request too long for regex matching" };

/** The replies to requests that the client may repeat over another connection (RFC 9110 15.5.20). */
export const misdirected = {
  listener: { status: 421, error: "host belongs to another listener than the connection" },
  client: { status: 421, error: "connection lacks the client certificate that the host requires" },
} as const satisfies Readonly<Record<string, LocalReply>>;

/** Returns the reply to a request whose body could not be read to its end. */
export function unreadBody(reason: BodyAbortReason | undefined): LocalReply {
  switch (reason) {
    case "timeout":
      return { status: 408, error: "request body timeout", reason: "body-timeout", close: true };
    case "too-large":
      return { status: 413, error: "request body too large", reason: "body-too-large", close: true };
    default:
      return { status: 400, error: "malformed request body", reason: "malformed-body", close: true };
  }
}
