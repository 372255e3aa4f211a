import type { Exchange } from "../exchange/exchange.ts";
import { addressAsReceived, parseRequestAddress } from "../message/authority.ts";
import type { LocalReply } from "../message/local-reply.ts";
import type { RequestHead } from "../message/message.ts";
import { isCleanQuery, normalisePath } from "../routing/normalise-path.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import { isUnproven, refusalByRequest } from "./client-certificate.ts";
import { malformed, methodNotAllowed, misdirected } from "./refusals.ts";
import type { RequestFields } from "./request-fields.ts";

/** More passes through this proxy than any sane topology has: a loop (RFC 9110 7.6.3, RFC 5842 7.2). */
const maxOwnVias = 10;

/** An exchange as it is admitted. */
type Admitted = Exchange & {
  /** Its path is that of the page for clients without a valid certificate. */
  isCertificatePage: boolean;
};

/**
 * Checks what holds for every request, before a route is looked for, and sets the address of one that passes
 * (docs/architecture.md, "The life of a request", steps 2 and 3). The answer to one that does not; undefined: it is admitted.
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

/** A request without a canonical address: the log shows the address as received. */
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

/** A connection that was made for another listener, or without the certificate that the host asks for. */
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

/** The answer to a client that the host does not admit; undefined: it is admitted, or served the page for such clients. */
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
