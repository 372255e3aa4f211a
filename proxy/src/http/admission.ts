import type { Exchange } from "../exchange/exchange.ts";
import { addressAsReceived, parseRequestAddress } from "../message/authority.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { RequestHead } from "../message/message.ts";
import { isCleanQuery, normalisePath } from "../routing/normalise-path.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import { isUnproven, refusalByRequest } from "./client-certificate.ts";
import { malformed, methodNotAllowed, misdirected } from "./refusals.ts";
import type { RequestFields } from "./request-fields.ts";

/** The passes through this proxy that count as a loop: no sane topology has as many (RFC 9110 7.6.3, RFC 5842 7.2). */
const maxOwnVias = 10;

/** The exchange of a request during admission. */
type Admitted = Exchange & {
  /** True if the path was replaced by that of the error page for clients without a valid certificate. */
  isCertificatePage: boolean;
};

/**
 * Runs the checks that apply to every request before the route lookup, and sets the address of the exchange
 * (docs/architecture.md, "The life of a request", steps 2 and 3). Returns the reply to a refused request; undefined if
 * it is admitted.
 */
export function admit(exchange: Admitted, head: RequestHead, fields: RequestFields): LocalReply | undefined {
  if (head.method === "TRACE" || head.method === "CONNECT") {
    return refuse(exchange, head, methodNotAllowed);
  }
  const address = parseRequestAddress(head, exchange.connection.forwarding);
  if (!address.ok) return refuse(exchange, head, malformed.address);
  exchange.authority = address.value.authority;
  exchange.host = address.value.host;
  if (head.target === "*") return refuse(exchange, head, { status: 204 });
  if (!setTarget(exchange, address.value.target)) return refuse(exchange, head, malformed.target);
  if (fields.expect !== undefined && fields.expect !== "100-continue") {
    return { status: 417, error: "unknown expectation" };
  }
  if (fields.ownVias >= maxOwnVias) return { status: 508, error: "proxy loop" };
  return exchange.connection.tls === undefined ? undefined : refusalOverTls(exchange);
}

/** Refuses a request without a canonical address, so that the log shows the address as received. */
function refuse(exchange: Exchange, head: RequestHead, reply: LocalReply): LocalReply {
  const { authority, path } = addressAsReceived(head);
  exchange.authority = authority;
  exchange.matchedPath = path;
  return reply;
}

function setTarget(exchange: Exchange, target: string): boolean {
  const mark = target.indexOf("?");
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const path = normalisePath(rawPath, exchange.connection.listener.table.pathLevel(exchange.host));
  const query = mark < 0 ? "" : target.slice(mark);
  if (path === undefined || !isCleanQuery(query)) return false;
  exchange.setPath(path, query, path === rawPath ? target : undefined);
  return true;
}

/**
 * Returns the reply if the connection was made for another listener, or lacks the client certificate that the host
 * requires.
 */
function refusalOverTls(exchange: Admitted): LocalReply | undefined {
  const { connection, host } = exchange;
  const { table } = connection.listener;
  const serverName = connection.tls?.serverName ?? "";
  if (serverName !== "" && serverName !== host && table.isMisdirected(serverName, host)) {
    return misdirected.listener;
  }
  const rules = table.clientRulesOf?.(host);
  if (isUnproven(connection, rules)) return misdirected.client;
  return rules && refuseClient(exchange, rules);
}

/**
 * Returns the reply to a client that the host does not admit; undefined if it is admitted, or gets the error page for
 * such clients.
 */
function refuseClient(exchange: Admitted, rules: DemandedRules): LocalReply | undefined {
  const refusal = refusalByRequest(exchange.connection, rules);
  const page = rules.byRequest?.errorPage;
  if (refusal?.status !== 400 || page === undefined) return refusal;
  if (!page.startsWith("/")) {
    return { ...refusal, status: 302, headers: ["Location", page], body: "" };
  }
  const mark = page.indexOf("?");
  exchange.setPath(mark < 0 ? page : page.slice(0, mark), mark < 0 ? "" : page.slice(mark));
  exchange.isCertificatePage = true;
  return undefined;
}
