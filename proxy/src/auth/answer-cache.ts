import { hash } from "node:crypto";
import type { UrlCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { identifiesClient } from "@svc-gateway/common/features/request-template.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { fieldPairs, firstField, joinedField } from "../message/field-list.ts";
import type { HeaderList } from "../message/message.ts";
import { ownText } from "../message/own-text.ts";
import { compileTemplateParts } from "../routing/request-template.ts";
import type { VerifiedCache } from "./verified-cache.ts";

/** The maximum length of a remembered answer, in characters: 10,000 answers must fit into memory. */
const maxAnswerLength = 4_096;

/** A remembered answer of a service; with the body if it can be sent to a client. */
export type KnownAnswer = {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body?: Buffer;
};

/** The parts of a check that determine which answers are remembered, for how long, and for which requests. */
type CachedCheck = {
  readonly cache: NonNullable<UrlCheck["cache"]>;
  /** The serialised check: answers are not shared between different checks. */
  readonly identity: string;
  /** Whether a field of an answer is used, and therefore remembered. */
  readonly isKept: (lowerName: string) => boolean;
  /** The properties of the request, other than its fields, that are sent in the question. */
  readonly questionOf?: (exchange: Exchange) => string;
};

/** The remembered answers of one service. */
export type AnswerCache = {
  /** Returns the cache key of a request; undefined if the request must not be served an answer about another one. */
  keyOf(exchange: Exchange): string | undefined;
  get(key: string): KnownAnswer | undefined;
  set(key: string, answer: KnownAnswer): void;
};

/**
 * Remembers answers by the rules of HTTP for caches (RFC 9111), except answers with a cookie or `Vary`, and those that
 * the service declares private or stale. Keys are hashes, so that no credentials are stored. They cover host, route and
 * the whole check, and always Authorization, because a user name in credentials proves nothing without its password.
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
      // Without any of these values, the key does not identify the client, whose credentials can be in other fields.
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

/** How long the answer is fresh according to its own fields, in milliseconds; undefined if they do not specify it. */
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
