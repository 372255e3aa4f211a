import type { ClientConnection } from "../exchange/client-connection.ts";
import type { PublicPort } from "../exchange/listener-view.ts";
import { keptFields, plainName } from "../message/fields.ts";
import { connectionOptions, withoutConnectionOptions } from "../message/hop-by-hop.ts";
import type { HeaderList, HttpVersion } from "../message/message.ts";
import { memoByName } from "../message/name-memo.ts";
import { forwardingNames } from "../message/protected-names.ts";

/** The result of one pass over the request's fields. */
export type RequestFields = {
  /** Fields that go on: end-to-end ones, in order, without Host and Content-Length. */
  readonly headers: HeaderList;
  /** Upgrade token asked for on this connection, lower case; undefined when none. */
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

type Disposition = "keep" | "drop" | "connection" | "upgrade" | "te" | "expect" | "via" | "content-type";

/**
 * Fields that need a decision, by lower-case name with `_` read as `-`: some servers treat both alike, so a client
 * must not be able to smuggle `X_Forwarded_For` past the removal of `X-Forwarded-For`.
 */
const dispositions = new Map<string, Disposition>([
  ["connection", "connection"],
  ["keep-alive", "drop"],
  ["te", "te"],
  ["trailer", "drop"],
  ["transfer-encoding", "drop"],
  ["upgrade", "upgrade"],
  ["host", "drop"],
  ["content-length", "drop"],
  ["http2-settings", "drop"],
  ["expect", "expect"],
  ["via", "via"],
  ["content-type", "content-type"],
  // CGI shows it to programs as HTTP_PROXY, which says where their own requests go ("httpoxy", CVE-2016-5385).
  ["proxy", "drop"],
  ...forwardingNames.map((name) => [name, "drop"] as const),
]);

/** The disposition of a field, by its name as sent. */
const dispositionOf = memoByName((name): Disposition => {
  const plain = plainName(name);
  return dispositions.get(plain) ?? (plain.startsWith("proxy-") ? "drop" : "keep");
});

/** Reads the received fields in one pass: the fields to forward, and what the pipeline must know. */
export function readRequestFields(received: readonly string[], version: HttpVersion): RequestFields {
  const headers: HeaderList = [];
  let connection: string | undefined;
  let upgradeField: string | undefined;
  let te: string | undefined;
  let expect: string | undefined;
  let grpc = false;
  let ownVias = 0;
  for (let i = 0; i < received.length; i += 2) {
    const name = received[i] as string;
    const value = received[i + 1] as string;
    switch (dispositionOf(name)) {
      case "keep":
        headers.push(name, value);
        break;
      case "connection":
        connection = connection === undefined ? value : `${connection},${value}`;
        break;
      case "upgrade":
        upgradeField = value;
        break;
      case "te":
        te = value;
        break;
      case "expect":
        expect = expect === undefined ? value.toLowerCase() : `${expect}, ${value.toLowerCase()}`;
        break;
      case "via":
        ownVias += countOwnVias(value);
        headers.push(name, value);
        break;
      case "content-type":
        grpc = isGrpc(value);
        headers.push(name, value);
        break;
      case "drop":
        break;
    }
  }
  const options = connection === undefined ? undefined : connectionOptions(connection);
  const kept = options === undefined ? headers : withoutConnectionOptions(headers, options);
  if (te !== undefined && /(?:^|,)\s*trailers\s*(?:;|,|$)/i.test(te)) kept.push("te", "trailers");
  return {
    headers: kept,
    upgrade:
      version === "1.1" && upgradeField !== undefined && options?.includes("upgrade") === true
        ? upgradeField.trim().toLowerCase()
        : undefined,
    expect: version === "1.0" ? undefined : expect,
    grpc,
    ownVias,
  };
}

/**
 * The fields that routes are matched with after filters of a listener have run: end-to-end fields as the filters left them,
 * so that a removed field matches no more, and fields of the connection and of proxies as the client sent them.
 */
export function fieldsToMatch(received: readonly string[], filtered: readonly string[]): readonly string[] {
  return [...keptFields(received, (name) => !isForFilters(name)), ...keptFields(filtered, isForFilters)];
}

function isForFilters(name: string): boolean {
  const disposition = dispositionOf(name);
  return disposition === "keep" || disposition === "content-type";
}

function countOwnVias(value: string): number {
  let count = 0;
  for (const entry of value.split(",")) if (entry.trim().split(/\s+/)[1] === viaName) count++;
  return count;
}

/** True for the content types of gRPC (`application/grpc`, `application/grpc+proto`, ...). */
export function isGrpc(contentType: string): boolean {
  if (contentType.length < 16 || contentType.slice(0, 16).toLowerCase() !== "application/grpc") return false;
  const next = contentType.charAt(16);
  return next === "" || next === "+" || next === ";" || next === " ";
}

/** Appends the forwarding fields (RFC 7239 and its X- forerunners) and Via. */
export function addForwardingFields(
  headers: HeaderList,
  connection: ClientConnection,
  authority: string,
  options: {
    readonly version: HttpVersion;
    readonly clientIp: string;
    readonly publicPort: PublicPort;
    readonly via: boolean;
  },
): void {
  const { remoteAddress, listener } = connection;
  const proto = listener.secure ? "https" : "http";
  headers.push("X-Forwarded-For", remoteAddress, "X-Forwarded-Proto", proto);
  if (authority !== "") headers.push("X-Forwarded-Host", authority);
  headers.push("X-Forwarded-Port", options.publicPort.label, "X-Real-IP", options.clientIp);
  if (connection.proxied) {
    const node = remoteAddress.includes(":") ? `[${remoteAddress}]` : remoteAddress;
    headers.push("Forwarded", `for="${node}:${connection.remotePort}";proto=${proto}`);
  }
  if (options.via) headers.push("Via", `${options.version} ${viaName}`);
}
