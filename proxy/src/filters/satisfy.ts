import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

/** The checks of which one is enough. */
const participants: ReadonlySet<string> = new Set([
  "ip-access-control",
  "auth-basic-secret",
  "auth-jwt",
  "ext-auth",
]);

const slug = "satisfy";

/** Holds the place at which the checks run; `combineChecks` puts them there. */
export const satisfyFilter = (): Filter => ({ slug });

type Check = {
  readonly filter: Filter;
  /** Whether a request that the check does not refuse is admitted by it, also where the others refuse it. */
  readonly admits: boolean;
};

/**
 * Replaces the checks of a route by one that lets a request pass when any of them does. Without an agreement a refusal for
 * lack of credentials (401, or a redirect to sign in) comes before one of the address; a check that cannot be made ends the
 * request. See docs/features/satisfy.md.
 */
export function combineChecks(filters: readonly Filter[], features: RouteFeatures): readonly Filter[] {
  if (features.satisfy !== "any") return filters;
  const checks = filters
    .filter((filter) => participants.has(filter.slug) && filter.onRequest !== undefined)
    .map((filter): Check => ({ filter, admits: isAdmitting(filter, features) }));
  const onRequest = compileAny(checks);
  return filters.map((filter) => {
    if (filter.slug === slug) return { slug, onRequest };
    if (!checks.some((check) => check.filter === filter)) return filter;
    const { onRequest: _, ...rest } = filter;
    return rest;
  });
}

/** An address that is merely not denied says nothing for the client. */
const isAdmitting = (filter: Filter, features: RouteFeatures): boolean =>
  filter.slug !== "ip-access-control" || features["ip-access-control"]?.allow !== undefined;

function compileAny(checks: readonly Check[]): NonNullable<Filter["onRequest"]> {
  return async (exchange) => {
    let refusal: LocalReply | undefined;
    for (const [index, { filter, admits }] of checks.entries()) {
      const reply = await filter.onRequest?.(exchange);
      if (exchange.finished) return reply;
      if (reply === undefined && admits) {
        // Checks that are not asked keep what they own from the client all the same.
        for (const other of checks.slice(index + 1)) other.filter.onUnchecked?.(exchange);
        return undefined;
      }
      if (reply === undefined) continue;
      if (!isRefusal(reply)) return reply;
      filter.onUnchecked?.(exchange);
      if (refusal === undefined || refusal.status === 403) refusal = reply;
    }
    return refusal;
  };
}

/** What a client lacks, in contrast to a check that could not be made. A redirect is one to sign in. */
const isRefusal = ({ status }: LocalReply): boolean => status === 401 || status === 403 || status === 302;
