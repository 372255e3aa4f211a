import type { Cors } from "@svc-gateway/common/features/cors.ts";
import { compileOrigins, parseOrigin } from "@svc-gateway/common/values/origin.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { Fields } from "../message/fields.ts";
import { FieldBlock } from "../message/field-block.ts";
import { memoByName } from "../message/name-memo.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { uniformCorsFilter } from "./cors-uniform.ts";

/** Fields that grant access to other origins. The filter removes those of the upstream: only the proxy sets them. */
const owned = new Set([
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-expose-headers",
]);

/**
 * The limits of the memo of grants by origin. Clients choose the origins, so only few and short ones are remembered.
 */
const knownOrigins = { maxLength: 300, maxNames: 64 };
const noGrant = new FieldBlock([]);

/**
 * Answers preflight requests, and adds to other responses the fields that let an allowed origin read them. An origin
 * that is not allowed gets no such field, and the browser withholds the response from the page. See
 * docs/features/cors.md.
 */
export function corsFilter(cors: Cors): Filter {
  if (cors.onEveryResponse === true) return uniformCorsFilter(cors);
  const isAllowed = compileAllowed(cors.allowOrigins);
  const isPublic = cors.allowOrigins.includes("*") && !cors.allowCredentials;
  const exposed = cors.exposeHeaders.join(", ");
  // With credentials, `*` would mean a field of that name (Fetch, "CORS protocol and credentials").
  const namesAll = cors.allowCredentials && cors.exposeHeaders.includes("*");

  /** Returns the fields that let the pages of an origin read responses. */
  const grantOf = memoByName((origin): FieldBlock => {
    if (!isAllowed(origin)) return noGrant;
    return new FieldBlock([
      "Access-Control-Allow-Origin",
      isPublic ? "*" : origin,
      ...(cors.allowCredentials ? ["Access-Control-Allow-Credentials", "true"] : []),
      ...(namesAll || exposed === "" ? [] : ["Access-Control-Expose-Headers", exposed]),
    ]);
  }, knownOrigins);

  const answerPreflight = (exchange: Exchange, origin: string, method: string): LocalReply => {
    if (!isAllowed(origin)) return { status: 204, headers: [], body: "" };
    const headers = exchange.received.joined("access-control-request-headers", ",");
    return {
      status: 204,
      headers: [
        ...listField("Access-Control-Allow-Methods", cors.allowMethods, cors.allowCredentials, method),
        ...listField("Access-Control-Allow-Headers", cors.allowHeaders, cors.allowCredentials, headers),
        "Access-Control-Max-Age",
        String(cors.maxAgeSeconds),
      ],
      body: "",
    };
  };

  return {
    slug: "cors",
    ownedResponseFields: [...owned],
    onRequest(exchange) {
      if (exchange.method !== "OPTIONS") return undefined;
      const origin = exchange.received.joined("origin", ",");
      const method = exchange.received.joined("access-control-request-method", ",");
      if (origin === undefined || method === undefined) return undefined;
      return answerPreflight(exchange, origin, method);
    },
    onResponse(exchange, head) {
      head.headers.remove(owned);
      // A cache must not serve the response for one origin to another (Fetch, "CORS protocol and HTTP caches").
      if (!isPublic) head.headers.addToVary("Origin");
      const origin = exchange.received.joined("origin", ",");
      const grant = origin === undefined ? noGrant : grantOf(origin);
      if (grant === noGrant) return;
      const names = namesAll ? exposableNames(head.headers) : "";
      head.headers.appendBlock(grant);
      if (names !== "") head.headers.append("Access-Control-Expose-Headers", names);
    },
  };
}

/** The field for a list. With credentials, `*` would be a method or header name, so the requested ones are named. */
function listField(
  name: string,
  allowed: readonly string[],
  hasCredentials: boolean,
  asked: string | undefined,
): readonly string[] {
  if (allowed.includes("*")) return hasCredentials ? (asked === undefined ? [] : [name, asked]) : [name, "*"];
  return allowed.length === 0 ? [] : [name, allowed.join(", ")];
}

/**
 * Returns a function that reports whether an origin is in the list. `*` allows every page, including those whose origin
 * is `null` (RFC 6454 section 6.1). A value that is not an origin is never allowed.
 */
function compileAllowed(allowed: readonly string[]): (origin: string) => boolean {
  if (allowed.includes("*"))
    return (text) => text === "null" || parseOrigin(text) !== undefined || isOther(text);
  const isListed = compileOrigins(allowed);
  return (text) => {
    const origin = parseOrigin(text);
    return origin !== undefined && isListed(origin);
  };
}

/** An origin of a scheme other than http and https, as sent by browser extensions and apps. */
const otherForm = /^[a-z][a-z0-9+.-]{0,30}:\/\/[a-z0-9._-]{1,253}(?::\d{1,5})?$/i;
const isOther = (text: string): boolean => !/^https?:/i.test(text) && otherForm.test(text);

/** Fields that every page may read (Fetch, "CORS-safelisted response-header name"), and Set-Cookie, which none may. */
const neverExposed = new Set([
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma",
  "set-cookie",
]);

/** The distinct names of the fields that a page needs permission to read. */
function exposableNames(headers: Fields): string {
  const names = new Map<string, string>();
  for (const [name] of headers.pairs()) {
    const key = name.toLowerCase();
    if (!neverExposed.has(key) && !key.startsWith("access-control-")) names.set(key, name);
  }
  return [...names.values()].join(", ");
}
