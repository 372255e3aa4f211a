import type { ClientConnection, ForwardedAs } from "../exchange/client-connection.ts";
import type { KnownHost } from "../message/authority.ts";
import { FieldBlock } from "../message/field-block.ts";
import { Fields } from "../message/fields.ts";
import { connectionOptions, removeNamedOptions } from "../message/hop-by-hop.ts";
import { kindOfName, kindsMask } from "../message/known-names.ts";
import type { HeaderList, HttpVersion } from "../message/message.ts";
import { ownText } from "../message/own-text.ts";

/** The facts that the pipeline reads from the fields of a request, and the fields that are forwarded. */
export type RequestFields = {
  /** The fields that are forwarded: end-to-end ones, in order, without Host and Content-Length. */
  readonly headers: Fields;
  /** The token of Upgrade that is requested for this connection, in lower case; undefined if none. */
  readonly upgrade: string | undefined;
  /** Value of Expect, lower case; undefined when absent. */
  readonly expect: string | undefined;
  /** True for `application/grpc` and its subtypes. */
  readonly grpc: boolean;
  /** How many times this proxy already appears in Via. */
  readonly ownVias: number;
};

/** The proxy's entry in Via (RFC 9110 7.6.3). */
export const viaName = "svc";

/** Kinds of request fields that are not forwarded, or not unchanged. */
const notForwarded = kindsMask(
  ...(["host", "contentLength", "expect"] as const),
  ...(["connection", "keepAlive", "te", "transferEncoding", "upgrade", "hopByHop"] as const),
  ...(["clientClaim", "lookalike"] as const),
);

/** Kinds of request fields that `readRequestFields` has to evaluate. */
const telling = kindsMask("connection", "upgrade", "te", "expect", "via", "contentType");

const asksForTrailers = /(?:^|,)\s*trailers\s*(?:;|,|$)/i;

/** Evaluates the received fields, and omits those that must not be forwarded. */
export function readRequestFields(received: Fields, version: HttpVersion): RequestFields {
  const headers = received.withoutKinds(notForwarded);
  if (!received.mayHave(telling)) {
    return { headers, upgrade: undefined, expect: undefined, grpc: false, ownVias: 0 };
  }
  const connection = received.joined("connection", ",");
  const options = connection === undefined ? undefined : connectionOptions(connection);
  if (options !== undefined) removeNamedOptions(headers, options);
  const te = received.joined("te");
  if (te !== undefined && asksForTrailers.test(te)) headers.append("te", "trailers");
  const upgrade = options?.includes("upgrade") === true ? received.all("upgrade").at(-1) : undefined;
  return {
    headers,
    upgrade: version === "1.1" ? upgrade?.trim().toLowerCase() : undefined,
    expect: version === "1.0" ? undefined : received.joined("expect")?.toLowerCase(),
    grpc: isGrpc(received.all("content-type").at(-1) ?? ""),
    ownVias: received.all("via").reduce((count, value) => count + countOwnVias(value), 0),
  };
}

/**
 * Returns the fields for route matching after the filters of a listener have run: end-to-end fields as the filters left
 * them, so that a removed field no longer matches, and fields of the connection and of proxies as the client sent them.
 */
export const fieldsToMatch = (received: Fields, filtered: Fields): Fields =>
  Fields.of([...received.kept((name) => !isForFilters(name)), ...filtered.kept(isForFilters)]);

/** Kinds of fields that filters of a listener can change. */
const forFilters = kindsMask("other", "contentType", "date");

const isForFilters = (name: string): boolean => ((forFilters >> kindOfName(name, 0, name.length)) & 1) === 1;

function countOwnVias(value: string): number {
  let count = 0;
  for (const entry of value.split(",")) if (entry.trim().split(/\s+/)[1] === viaName) count++;
  return count;
}

/** Reports whether a content type is that of gRPC (`application/grpc`, `application/grpc+proto`, ...). */
export function isGrpc(contentType: string): boolean {
  if (contentType.length < 16 || contentType.slice(0, 16).toLowerCase() !== "application/grpc") return false;
  const next = contentType.charAt(16);
  return next === "" || next === "+" || next === ";" || next === " ";
}

/** The parts of a request that the forwarding fields contain; an Exchange is one. */
type ForwardedRequest = KnownHost & Omit<ForwardedAs, "authority" | "via">;

/** Appends the forwarding fields (RFC 7239 and its X- predecessors), and Via if enabled. */
export function addForwardingFields(
  headers: Fields,
  connection: ClientConnection,
  request: ForwardedRequest,
  via: boolean,
): void {
  let memo = connection.forwarding;
  if (memo === undefined || !isForwardedAlike(memo.as, request, via)) {
    const { version, clientIp, publicPort, host } = request;
    // Copied, because a slice would keep the text of the whole head in memory for the life of the connection.
    const authority = ownText(request.authority);
    const as = { authority, version, clientIp, publicPort, via };
    const block = new FieldBlock(forwardingFields(connection, as));
    memo = { authority, host: host === authority ? authority : ownText(host), as, block };
    connection.forwarding = memo;
  }
  headers.appendBlock(memo.block);
}

const isForwardedAlike = (last: ForwardedAs, request: ForwardedRequest, via: boolean): boolean =>
  last.authority === request.authority &&
  last.version === request.version &&
  last.publicPort === request.publicPort &&
  last.clientIp === request.clientIp &&
  last.via === via;

function forwardingFields(connection: ClientConnection, as: ForwardedAs): HeaderList {
  const { remoteAddress, listener } = connection;
  const proto = listener.secure ? "https" : "http";
  const fields = ["X-Forwarded-For", remoteAddress, "X-Forwarded-Proto", proto];
  if (as.authority !== "") fields.push("X-Forwarded-Host", as.authority);
  fields.push("X-Forwarded-Port", as.publicPort.label, "X-Real-IP", as.clientIp);
  if (connection.proxied) {
    const node = remoteAddress.includes(":") ? `[${remoteAddress}]` : remoteAddress;
    fields.push("Forwarded", `for="${node}:${connection.remotePort}";proto=${proto}`);
  }
  if (as.via) fields.push("Via", `${as.version} ${viaName}`);
  return fields;
}
