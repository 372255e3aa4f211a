import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { HeaderList, ReadonlyHeaderList } from "../message/message.ts";
import { BufferBody } from "./external-call.ts";
import { refusal, type ExternalCheckApi } from "./external-check.ts";

/** Fields that frame the answer of the service, not that of the proxy. */
const framing = new Set(["content-length", "transfer-encoding", "trailer"]);

/** Fields of the question that are the proxy's own. */
const ownFields: readonly string[] = [
  "x-forwarded-method",
  "x-forwarded-uri",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-for",
];

/** Asks with the head of the request; 2xx lets it pass. See docs/features/ext-auth.md, "Over HTTP". */
export function createHttpCheck({
  allowedHeaders,
  pathPrefix = "",
  protocol,
}: Pick<ExternalCheck, "allowedHeaders" | "pathPrefix" | "protocol">): ExternalCheckApi {
  const allowed = allowedHeaders === undefined ? undefined : new Set(allowedHeaders);
  const isSent = (name: string): boolean =>
    (allowed === undefined || allowed.has(name)) && !ownFields.includes(name);
  return {
    question(exchange, body) {
      const { path, query } = exchange;
      return {
        protocol,
        method: exchange.method,
        target: pathPrefix + path + query,
        authority: exchange.authority,
        scheme: schemeOf(exchange),
        headers: questionFields(exchange, isSent),
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

/** What the service learns: the fields that it may see, and what the client asked for. */
function questionFields(exchange: Exchange, isSent: (lowerName: string) => boolean): HeaderList {
  const fields = shownFields(exchange, isSent);
  fields.push("X-Forwarded-Method", exchange.method, "X-Forwarded-Uri", exchange.path + exchange.query);
  if (exchange.authority !== "") fields.push("X-Forwarded-Host", exchange.authority);
  fields.push("X-Forwarded-Proto", schemeOf(exchange), "X-Forwarded-For", exchange.clientIp);
  return fields;
}

const credentials: ReadonlySet<string> = new Set(["authorization", "cookie"]);

/**
 * The fields of the request that a service may see. What a client proves itself with is shown as it came: what other
 * checks, or the answers of this one, make of it is for the upstream only.
 */
export function shownFields(
  { headers, received }: Pick<Exchange, "headers" | "received">,
  isSent: (lowerName: string) => boolean,
): HeaderList {
  const fields = pickFields(headers, (name) => !credentials.has(name) && isSent(name));
  fields.push(...pickFields(received, (name) => credentials.has(name) && isSent(name)));
  return fields;
}

/** As the client came. */
export const schemeOf = (exchange: Exchange): "http" | "https" => (exchange.secure ? "https" : "http");

/**
 * The fields that are wanted. Values come from a parser that lets no control character pass; what is written here is
 * looked at all the same.
 */
export function pickFields(from: ReadonlyHeaderList, isWanted: (lowerName: string) => boolean): HeaderList {
  const fields: HeaderList = [];
  for (let i = 0; i < from.length; i += 2) {
    const name = from[i] as string;
    const value = from[i + 1] as string;
    if (isWanted(name.toLowerCase()) && isHeaderValue(value)) fields.push(name, value);
  }
  return fields;
}
