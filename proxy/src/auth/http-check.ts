import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { keptFields } from "../message/fields.ts";
import type { HeaderList, ReadonlyHeaderList } from "../message/message.ts";
import { BufferBody } from "./external-call.ts";
import { refusal, type ExternalCheckApi } from "./external-check.ts";

/** Fields that frame the service's response, not the proxy's. */
const framing = new Set(["content-length", "transfer-encoding", "trailer"]);

/** Fields of the check request that the proxy sets itself. */
const ownFields: readonly string[] = [
  "x-forwarded-method",
  "x-forwarded-uri",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-for",
];

/** Check requests with the head of the client's request; 2xx allows it. See docs/features/ext-auth.md, "Over HTTP". */
export function createHttpCheck({
  allowedHeaders,
  pathPrefix = "",
  protocol,
}: Pick<ExternalCheck, "allowedHeaders" | "pathPrefix" | "protocol">): ExternalCheckApi {
  const allowed = allowedHeaders === undefined ? undefined : new Set(allowedHeaders);
  const isSent = (name: string): boolean =>
    (allowed === undefined || allowed.has(name)) && !ownFields.includes(name);
  return {
    request(exchange, body) {
      const { path, query } = exchange;
      return {
        protocol,
        method: exchange.method,
        target: pathPrefix + path + query,
        authority: exchange.authority,
        scheme: schemeOf(exchange),
        headers: checkRequestFields(exchange, isSent),
        body: body === undefined ? null : new BufferBody(body),
        upgrade: undefined,
        expectContinue: false,
      };
    },
    readsBody: (status) => !isAllowing(status),
    verdict({ status, headers, body }) {
      if (isAllowing(status)) return { allowed: true, headers, forClient: headers };
      return refusal(
        status,
        pickFields(headers, (name) => !framing.has(name)),
        body.toString("latin1"),
      );
    },
  };
}

const isAllowing = (status: number): boolean => status >= 200 && status <= 299;

/** The fields of the check request: those that the service may see, and what the client asked for. */
function checkRequestFields(exchange: Exchange, isSent: (lowerName: string) => boolean): HeaderList {
  const fields = shownFields(exchange, isSent);
  fields.push("X-Forwarded-Method", exchange.method, "X-Forwarded-Uri", exchange.path + exchange.query);
  if (exchange.authority !== "") fields.push("X-Forwarded-Host", exchange.authority);
  fields.push("X-Forwarded-Proto", schemeOf(exchange), "X-Forwarded-For", exchange.clientIp);
  return fields;
}

const credentials: ReadonlySet<string> = new Set(["authorization", "cookie"]);

/**
 * The fields of the request that a service may see. Credentials are shown as the client sent them: changes by other checks,
 * or by the answers of this one, are for the upstream only.
 */
export function shownFields(
  { headers, received }: Pick<Exchange, "headers" | "received">,
  isSent: (lowerName: string) => boolean,
): HeaderList {
  const fields = pickFields(headers, (name) => !credentials.has(name) && isSent(name));
  fields.push(...pickFields(received, (name) => credentials.has(name) && isSent(name)));
  return fields;
}

/** The scheme of the client's connection. */
export const schemeOf = (exchange: Exchange): "http" | "https" => (exchange.secure ? "https" : "http");

/**
 * The fields whose names are wanted. The parser has already refused control characters in values; they are checked once
 * more before they are written here.
 */
export const pickFields = (from: ReadonlyHeaderList, isWanted: (lowerName: string) => boolean): HeaderList =>
  keptFields(from, (name, value) => isWanted(name.toLowerCase()) && isHeaderValue(value));
