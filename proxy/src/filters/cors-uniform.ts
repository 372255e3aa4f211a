import type { Cors } from "@svc-gateway/common/features/cors.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

const grants = [
  "access-control-allow-origin",
  "access-control-allow-credentials",
  "access-control-allow-methods",
  "access-control-allow-headers",
  "access-control-max-age",
] as const;

const exposing = "access-control-expose-headers";

const answered: LocalReply = { status: 204, headers: [], body: "" };

/**
 * Adds the same fields to every response to an allowed origin, including local replies, and answers OPTIONS requests
 * from such an origin. See docs/features/cors.md, "On every response".
 */
export function uniformCorsFilter(cors: Cors): Filter {
  const isPublic = cors.allowOrigins.includes("*");
  const isAllowed = isPublic ? () => true : compileTexts(cors.allowOrigins);
  const expose = cors.exposeHeaders.join(", ");
  const constant = [
    ...(cors.allowCredentials ? ["Access-Control-Allow-Credentials", "true"] : []),
    ...listField("Access-Control-Allow-Methods", cors.allowMethods),
    ...listField("Access-Control-Allow-Headers", cors.allowHeaders),
    ...["Access-Control-Max-Age", String(cors.maxAgeSeconds)],
    ...listField("Access-Control-Expose-Headers", cors.exposeHeaders),
  ];
  // Exposed header names grant nothing on their own, so those of the upstream are kept if the route names none.
  const replaced = new Set<string>(expose === "" ? grants : [...grants, exposing]);
  const removed = new Set<string>([...grants, exposing]);

  const allowedOrigin = ({ received }: Exchange): string | undefined => {
    if (isPublic) return "*";
    const origin = received.joined("origin", ",");
    return origin !== undefined && isAllowed(origin) ? origin : undefined;
  };

  return {
    slug: "cors",
    ownedResponseFields: [...removed],
    onRequest(exchange) {
      return exchange.method === "OPTIONS" && allowedOrigin(exchange) !== undefined ? answered : undefined;
    },
    onResponse(exchange, head) {
      const { headers } = head;
      const origin = allowedOrigin(exchange);
      headers.remove(origin === undefined ? removed : replaced);
      // A cache must not serve the response for one origin to another (Fetch, "CORS protocol and HTTP caches").
      if (!isPublic) headers.addToVary("Origin");
      if (origin !== undefined) headers.appendAll(["Access-Control-Allow-Origin", origin, ...constant]);
    },
  };
}

const listField = (name: string, list: readonly string[]): readonly string[] =>
  list.length === 0 ? [] : [name, list.join(", ")];

/** Longer than any origin, which is a scheme, a host of at most 253 characters and a port. */
const maxLength = 300;

const oneLabel = /^[a-z0-9-]+$/;

/** Compares whole origins case-insensitively; the first `*` of an entry matches one label. */
function compileTexts(origins: readonly string[]): (origin: string) => boolean {
  const lower = origins.map((origin) => origin.toLowerCase());
  const exact = new Set(lower.filter((origin) => !origin.includes("*")));
  const wildcards = lower.flatMap((origin) => {
    const star = origin.indexOf("*");
    return star < 0 ? [] : [{ before: origin.slice(0, star), after: origin.slice(star + 1) }];
  });
  return (written) => {
    if (written.length > maxLength) return false;
    const origin = written.toLowerCase();
    if (exact.has(origin)) return true;
    return wildcards.some(
      ({ before, after }) =>
        origin.startsWith(before) &&
        origin.endsWith(after) &&
        oneLabel.test(origin.slice(before.length, Math.max(before.length, origin.length - after.length))),
    );
  };
}
