import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { isHeaderValue } from "@svc-gateway/common/values/header-name.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { hostOf } from "../message/authority.ts";
import { keptFields, plainName } from "../message/field-list.ts";
import { Fields } from "../message/fields.ts";
import type { HeaderList, ReadonlyHeaderList } from "../message/message.ts";
import { compileRequestTemplate, escapeUrl, originForm } from "../routing/request-template.ts";
import { BufferBody } from "./external-call.ts";
import { refusal, type ExternalCheckApi, type ExternalVerdict } from "./external-check.ts";

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

type HttpCheck = Pick<
  ExternalCheck,
  "allowedHeaders" | "pathPrefix" | "protocol" | "question" | "signIn" | "deniedStatuses"
>;

/** Check requests with the head of the client's request; 2xx allows it. See docs/features/ext-auth.md, "Over HTTP". */
export function createHttpCheck(check: HttpCheck): ExternalCheckApi {
  const { allowedHeaders, protocol, question, deniedStatuses } = check;
  const allowed = allowedHeaders === undefined ? undefined : new Set(allowedHeaders);
  const set = (question?.set ?? []).map(({ name, value }) => ({
    name,
    valueOf: compileRequestTemplate(value),
  }));
  const replaced = new Set(set.map(({ name }) => plainName(name)));
  const isSent = (name: string): boolean =>
    (allowed === undefined || allowed.has(name)) &&
    !ownFields.includes(name) &&
    (replaced.size === 0 || !replaced.has(plainName(name)));
  const targetOf = compileTarget(check);
  const authorityOf = question?.authority && compileRequestTemplate(question.authority);
  const location = check.signIn && compileRequestTemplate(check.signIn);
  const fieldsOf = (exchange: Exchange): HeaderList => {
    const fields = checkRequestFields(exchange, isSent);
    if (set.length === 0) return fields;
    const all = keptFields(fields, (name) => !replaced.has(plainName(name)));
    for (const { name, valueOf } of set) {
      const value = valueOf(exchange).trim();
      if (value !== "") all.push(name, value);
    }
    return all;
  };
  return {
    request(exchange, body) {
      const authority = authorityOf === undefined ? exchange.authority : authorityOf(exchange);
      if (authorityOf !== undefined && hostOf(authority) === undefined) return undefined;
      return {
        protocol,
        method: question?.method ?? exchange.method,
        target: targetOf(exchange),
        authority,
        scheme: schemeOf(exchange),
        headers: Fields.of(fieldsOf(exchange)),
        body: body === undefined ? null : new BufferBody(body),
        upgrade: undefined,
        expectContinue: false,
      };
    },
    readsBody: (status) => !isAllowing(status),
    verdict({ status, headers, body }, exchange) {
      if (isAllowing(status)) return { allowed: true, headers, forClient: headers };
      if (status === 401 && location !== undefined) return signInAt(location(exchange), headers);
      if (deniedStatuses?.includes(status) === false) return undefined;
      // Content-Length in an answer to HEAD is the length for GET and frames nothing (RFC 9110 8.6), so it is kept.
      const isHead = (question?.method ?? exchange.method) === "HEAD";
      const isKept = (name: string): boolean => !framing.has(name) || (isHead && name === "content-length");
      return refusal(status, pickFields(headers, isKept), body.toString("latin1"));
    },
  };
}

/** Compiles the target of the check request. */
export function compileTarget({
  question,
  pathPrefix = "",
}: Pick<HttpCheck, "question" | "pathPrefix">): (exchange: Exchange) => string {
  if (question?.target === undefined) return ({ path, query }) => pathPrefix + path + query;
  const target = compileRequestTemplate(question.target);
  return (exchange) => originForm(target(exchange));
}

/** A redirect to sign in, with the cookies of the answer, which the service can need when the client returns. */
const signInAt = (location: string, headers: HeaderList): ExternalVerdict => ({
  allowed: false,
  reply: {
    status: 302,
    headers: ["Location", escapeUrl(location), ...pickFields(headers, (name) => name === "set-cookie")],
    body: "",
    error: "not signed in",
    detail: "status 401",
  },
});

const isAllowing = (status: number): boolean => status >= 200 && status <= 299;

/** The fields of the check request: those that the service may see, and a description of the client's request. */
function checkRequestFields(exchange: Exchange, isSent: (lowerName: string) => boolean): HeaderList {
  const fields = shownFields(exchange, isSent);
  fields.push("X-Forwarded-Method", exchange.method, "X-Forwarded-Uri", exchange.path + exchange.query);
  if (exchange.authority !== "") fields.push("X-Forwarded-Host", exchange.authority);
  fields.push("X-Forwarded-Proto", schemeOf(exchange), "X-Forwarded-For", exchange.clientIp);
  return fields;
}

const credentials: ReadonlySet<string> = new Set(["authorization", "cookie"]);

/**
 * The fields of the request that a service may see. Credentials are passed as the client sent them: changes that other
 * checks or the answers of this one make to them are for the upstream only.
 */
export function shownFields(
  { headers, received }: Pick<Exchange, "headers" | "received">,
  isSent: (lowerName: string) => boolean,
): HeaderList {
  const fields = pickFields(headers.toList(), (name) => !credentials.has(name) && isSent(name));
  fields.push(...pickFields(received.toList(), (name) => credentials.has(name) && isSent(name)));
  return fields;
}

/** The scheme of the client's connection. */
export const schemeOf = (exchange: Exchange): "http" | "https" => (exchange.secure ? "https" : "http");

/**
 * The fields whose names are wanted. The parser has already refused control characters in values; the values are
 * checked again because they are written to another message here.
 */
export const pickFields = (from: ReadonlyHeaderList, isWanted: (lowerName: string) => boolean): HeaderList =>
  keptFields(from, (name, value) => isWanted(name.toLowerCase()) && isHeaderValue(value));
