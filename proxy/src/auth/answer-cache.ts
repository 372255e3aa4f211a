import { hash } from "node:crypto";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { identifiesClient } from "@svc-gateway/common/features/request-template.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { fieldPairs, firstField, joinedField } from "../message/field-list.ts";
import type { HeaderList } from "../message/message.ts";
import { ownText } from "../message/own-text.ts";
import { compileTemplateParts } from "../routing/request-template.ts";
import type { VerifiedCache } from "./verified-cache.ts";

/** Longer answers are not remembered: 10,000 of them must fit into memory. */
const maxAnswerLength = 4_096;

/** What a service answered; the body where a client may get it. */
export type KnownAnswer = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body?: Buffer;
};

/** What of a check decides about its answers. */
type CachedCheck = {
  readonly cache: NonNullable<UrlCheck["cache"]>;
  /** The whole check: another one has other answers. */
  readonly identity: string;
  /** The fields of an answer that are used. */
  readonly isKept: (lowerName: string) => boolean;
  /** What the question says of the request beside its fields. */
  readonly questionOf?: (exchange: Exchange) => string;
};

/** Answers of one service that are remembered, and the keys of requests. */
export type AnswerCache = {
  /** Undefined: the answer to this request must not be one of another request. */
  keyOf(exchange: Exchange): string | undefined;
  get(key: string): KnownAnswer | undefined;
  set(key: string, answer: KnownAnswer): void;
};

/**
 * Remembers answers by the rules of HTTP for private caches (RFC 9111): none with a cookie, with `Vary`, or that the service
 * declares private or stale. Keys are hashes, so that no credentials are kept; they hold host, route and the whole check,
 * and always Authorization: a name in credentials proves nothing without its password.
 */
export function createAnswerCache(
  { cache, identity, isKept, questionOf }: CachedCheck,
  answers: VerifiedCache<KnownAnswer>,
  now: () => number,
): AnswerCache {
  const { key: template, times } = cache;
  const parts = compileTemplateParts(template);
  const ownIdentity = hash("sha256", identity, "base64");
  const isOfClient = template.map((part) => typeof part !== "string" && identifiesClient(part));
  return {
    keyOf(exchange) {
      const values = parts.map((part) => part(exchange));
      // Without any of them it is a client that the key does not know, whose credentials may be elsewhere.
      if (!values.some((value, index) => isOfClient[index] === true && value !== "")) return undefined;
      const authorization = exchange.received.joined("authorization") ?? "";
      const { host, routeId } = exchange;
      const question = questionOf?.(exchange);
      return hash(
        "sha256",
        JSON.stringify([ownIdentity, host, routeId, authorization, values, question]),
        "base64",
      );
    },
    get: (key) => answers.get(key, now()),
    set(key, { status, headers, body }) {
      const ms =
        freshFor(headers) ?? times.find(({ statuses }) => statuses?.includes(status) ?? true)?.ms ?? 0;
      if (ms <= 0) return;
      const fields: HeaderList = fieldPairs(headers)
        .filter(([name]) => isKept(name.toLowerCase()))
        .flat()
        .map(ownText);
      if (fields.join("").length + (body?.length ?? 0) > maxAnswerLength) return;
      answers.set(key, { status, headers: fields, ...(body !== undefined && { body }) }, now() + ms);
    },
  };
}

/** How long the service says that its answer holds, in milliseconds; undefined: it does not say. */
function freshFor(headers: HeaderList): number | undefined {
  if (firstField(headers, "set-cookie") !== undefined || firstField(headers, "vary") !== undefined) return 0;
  const control = joinedField(headers, "cache-control")?.toLowerCase();
  if (control !== undefined) {
    if (/(?:^|[\s,])(?:no-cache|no-store|private)(?:$|[\s,=])/.test(control)) return 0;
    const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/.exec(control)?.[1];
    if (maxAge !== undefined) return Number(maxAge) * 1_000;
  }
  const expires = firstField(headers, "expires");
  if (expires === undefined) return undefined;
  const date = Date.parse(firstField(headers, "date") ?? "");
  const lifetimeMs = Date.parse(expires) - (Number.isNaN(date) ? Date.now() : date);
  return Number.isNaN(lifetimeMs) ? 0 : lifetimeMs;
}
