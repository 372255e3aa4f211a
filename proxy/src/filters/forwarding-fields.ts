import type { ForwardingFields } from "@svc-gateway/common/features/forwarding-fields.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { dropFieldsThat, firstField, joinedField, plainName, replaceField } from "../message/fields.ts";
import type { HeaderList } from "../message/message.ts";
import { identityFieldNames, identityFieldsOf } from "../http/client-certificate.ts";
import { viaName } from "../http/request-fields.ts";
import { memoByName } from "../message/name-memo.ts";

const charactersOf = { plain: /^[a-z0-9-]+$/i, underscores: /^[a-z0-9_-]+$/i } as const;

const ownViaEnd = ` ${viaName}`;

/** Longer ids are replaced: the value goes into every log on the way. */
const maxIdLength = 1024;

/**
 * Adds further fields about the client to the upstream request, and removes those that a backend must not get. Runs before
 * filters that read the fields. See docs/features/forwarding-fields.md.
 */
export function forwardingFieldsFilter(fields: ForwardingFields): Filter {
  const { requestId, scheme, original, originalUri, clientOnly, clientCertificate, withoutVia, names } =
    fields;
  const owned = [
    ...(requestId === true ? ["x-request-id"] : []),
    ...(scheme === true ? ["x-scheme", "x-forwarded-scheme"] : []),
    ...(original === undefined ? [] : ["x-original-forwarded-for", "x-original-forwarded-host"]),
    ...(originalUri === true ? ["x-original-uri"] : []),
    ...(clientCertificate === true ? identityFieldNames : []),
  ];
  const replaced = new Set(owned);
  const allowed = names && charactersOf[names];
  const isDropped = memoByName(
    (name) => replaced.has(plainName(name)) || (allowed !== undefined && !allowed.test(name)),
  );
  return {
    slug: "forwarding-fields",
    ownedFields: owned,
    onRequest(exchange) {
      const { headers, received } = exchange;
      if (withoutVia === true) removeOwnVia(headers);
      if (replaced.size > 0 || allowed !== undefined) dropFieldsThat(headers, isDropped);
      if (clientOnly === true) replaceField(headers, "X-Forwarded-For", exchange.clientIp);
      if (requestId === true) headers.push("X-Request-ID", idOf(exchange));
      if (scheme === true) {
        // A trusted proxy may have said another one than that of the connection.
        const value = firstField(headers, "x-forwarded-proto") ?? (exchange.secure ? "https" : "http");
        headers.push("X-Forwarded-Scheme", value, "X-Scheme", value);
      }
      if (original !== undefined) {
        addIfPresent(headers, "X-Original-Forwarded-For", joinedField(received, original));
        addIfPresent(headers, "X-Original-Forwarded-Host", joinedField(received, "x-forwarded-host"));
      }
      if (clientCertificate === true) {
        const { connection, host } = exchange;
        headers.push(...identityFieldsOf(connection, connection.listener.table.clientRulesOf?.(host)));
      }
      if (originalUri === true) headers.push("X-Original-URI", exchange.matchedPath + exchange.query);
      return undefined;
    },
  };
}

function idOf(exchange: Exchange): string {
  const own = firstField(exchange.received, "x-request-id");
  if (own !== undefined && own !== "" && own.length <= maxIdLength) exchange.requestId = own;
  return exchange.requestId;
}

/** The proxy has added its entry as a line of its own, after those of the client. */
function removeOwnVia(headers: HeaderList): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (headers[i] !== "Via" || headers[i + 1]?.endsWith(ownViaEnd) !== true) continue;
    headers.splice(i, 2);
    return;
  }
}

function addIfPresent(headers: HeaderList, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") headers.push(name, value);
}
