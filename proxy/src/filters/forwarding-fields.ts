import type { ForwardingFields } from "@svc-gateway/common/features/forwarding-fields.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import { plainName } from "../message/field-list.ts";
import { clientCertificateHeader, identityFieldNames, identityFieldsOf } from "../http/client-certificate.ts";
import { viaName } from "../http/request-fields.ts";
import type { Fields } from "../message/fields.ts";
import { memoByName } from "../message/name-memo.ts";

const charactersOf = { plain: /^[a-z0-9-]+$/i, underscores: /^[a-z0-9_-]+$/i } as const;

const ownViaEnd = ` ${viaName}`;

/** The maximum length of a client's request id. Longer ids are replaced: every log on the way contains the id. */
const maxIdLength = 1024;

/**
 * Adds optional fields about the client to the upstream request, and removes those that a backend must not get. Runs
 * before filters that read the fields. See docs/features/forwarding-fields.md.
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
      if (replaced.size > 0 || allowed !== undefined) headers.removeThat(isDropped);
      if (clientOnly === true) headers.replace("X-Forwarded-For", exchange.clientIp);
      if (requestId === true) headers.append("X-Request-ID", idOf(exchange));
      if (scheme === true) {
        // A trusted proxy can have reported a scheme other than that of the connection.
        const value = headers.first("x-forwarded-proto") ?? (exchange.secure ? "https" : "http");
        headers.appendAll(["X-Forwarded-Scheme", value, "X-Scheme", value]);
      }
      if (original !== undefined) {
        addIfPresent(headers, "X-Original-Forwarded-For", received.joined(original));
        addIfPresent(headers, "X-Original-Forwarded-Host", received.joined("x-forwarded-host"));
      }
      if (clientCertificate === true) {
        const { connection, host } = exchange;
        const identity = identityFieldsOf(connection, connection.listener.table.clientRulesOf?.(host));
        // The certificate is sent once, under one name.
        if (identity.length > 0) headers.remove(certificateOnly);
        headers.appendAll(identity);
      }
      if (originalUri === true) headers.append("X-Original-URI", exchange.matchedPath + exchange.query);
      return undefined;
    },
  };
}

function idOf(exchange: Exchange): string {
  const own = exchange.received.first("x-request-id");
  if (own !== undefined && own !== "" && own.length <= maxIdLength) exchange.requestId = own;
  return exchange.requestId;
}

/** Removes the Via entry of this proxy, which is a field line of its own, after those of the client. */
function removeOwnVia(headers: Fields): void {
  const vias = headers.all("via");
  if (vias.at(-1)?.endsWith(ownViaEnd) !== true) return;
  headers.remove(viaOnly);
  for (const via of vias.slice(0, -1)) headers.append("Via", via);
}

const viaOnly: ReadonlySet<string> = new Set(["via"]);
const certificateOnly: ReadonlySet<string> = new Set([clientCertificateHeader.toLowerCase()]);

function addIfPresent(headers: Fields, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") headers.append(name, value);
}
